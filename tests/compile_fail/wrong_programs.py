"""The wrong programs: the changes to right.cpp, and the compiler's error for each.

WRONG: name -> (what the first error says, [(words of right.cpp, what stands in their place)...]). What it says is a
sentence of ours; or, where the language itself refuses, a list of texts that all stand there, each `g++'s|clang's`.
"""

CREATE = 'Next<RideCreated> create_ride(Tx& tx, const Started& at) {'
CALL = 'Outcome<Charge, Declined> charge_card(KeyedCall& call, const RideCreated&) { return stripe_.charge(call); }'
KEEP = '''Next<ChargeCreated> keep_charge(Tx&, const RideCreated& at, const Charge& charge) {
        return ChargeCreated{at.ride, charge.id};
    }'''
REFUSE = 'Finish refuse_ride(Tx&, const RideCreated&, const Declined& declined) {\n'\
         '        return pawl::answer(402, declined);\n    }'
FINISH = 'Finish finish_ride(Tx& tx, const ChargeCreated& at) {\n        tx.stage(SendReceipt{at.ride});'
RESPOND = 'return pawl::answer(201, at.ride);\n    }'
ABANDON = 'Finish abandon(Tx&, const RideCreated& at, const pawl::Abandoned&) { return pawl::answer(410, at.ride); }'
PROBLEM = 'std::optional<std::string> problem() const { return std::nullopt; }'
FOREIGN = 'Foreign<Repeat::safe_with_key, &BookRide::charge_card, &BookRide::keep_charge, &BookRide::refuse_ride>'
POINT = '''struct ChargeCreated {
        static constexpr std::string_view name = "charge_created";'''
LOST = 'struct Lost {\n        static constexpr std::string_view name = "lost";\n    };\n    '
STARTED = 'using Started = pawl::Started<RideRequest>;\n    struct RideCreated'
LAST_STEP = '        Atomic<&BookRide::finish_ride>>;'
JOB = 'pawl::JobResult work(Tx&, const pawl::Job<SendReceipt>&) const noexcept { return pawl::done; }'
ANSWER = 'pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<RideRequest>& at) const {\n        '
INSERT = 'insert_ride, at.key_id, at.request.lat'

BACKWARDS = 'pawl: a step leads backwards, or to a point that no step starts from'
ONE_KEEPER = 'pawl: each result of a foreign call needs exactly one keeper'
KEYED = 'pawl: a call that is safe_with_key takes a KeyedCall&, and no other call does'
CALL_FORM = 'pawl: a foreign call is a member function Outcome<Results...> f(Call&, const Point&)'
PHASE_FORM = 'pawl: an atomic phase is a member function Next<Points...> f(Tx&, const Point&)'
KEEPER_FORM = 'pawl: a keeper is a member function Next<Points...> f(Tx&, const Point&, const Result&)'
SAME_NAME = 'pawl: two steps start from the same recovery point, or two points share a name'
ABANDON_FORM = 'pawl: abandon is a member function Finish abandon(Tx&, const Point&, const Abandoned&)'
TARGET_FORM = 'pawl: call_target is a member function std::string call_target(const Point&) const'
SETTLED_BY_FORM = 'pawl: settled_by is a member function std::optional<Result> settled_by(const Point&, const ProviderEvent&) const'
PROBLEM_FORM = 'pawl: a request checks itself in std::optional<std::string> problem() const'
TEMPLATE = 'pawl: a result whose type is a template needs a `static constexpr std::string_view name`'
BEFORE_KEY = 'pawl: before_key is a public member function std::optional<Response> before_key(Snapshot&, '\
             'const Asked<Request>&, std::string_view key)'
SETTINGS = 'pawl: the settings of an operation are public: `static constexpr pawl::Settings settings{...}`'
LOOSE = 'pawl: a setting outside of `static constexpr pawl::Settings settings{...}` would be ignored'
ENDS = 'pawl: a step ends a request with pawl::answer(response), which keeps what the step wrote, or with pawl::refuse'
ARGUMENTS = 'pawl: the number of arguments is not the number of $n in the statement'
JOB_FORM = 'pawl: a job is a plain struct with a `static constexpr std::string_view kind` of 1 to 100 characters'
HANDLER_FORM = 'pawl: a service takes operations, which have a name and a Flow, and job handlers'
ROUTED = 'pawl: the call of a Routed step takes a RoutedCall&'
ROUTE_FORM = 'pawl: a Routed step begins with a member function Routing f(const Point&), of the same recovery point as its call'
ASK = 'pawl::Inquiry<Charge, Declined> ask(pawl::InquiryCall&, const Ordered&) {'
QUERY_FORM = 'pawl: a query is a class with a name and one member function Response answer(Snapshot&, const'
# g++ and clang.
CANNOT_CONVERT = 'could not convert|no viable conversion'


def in_body(head, statement):
    """`statement` as the first one of the function that begins with `head`."""
    brace = head.index('{') + 1
    return head, head[:brace] + '\n        ' + statement + '\n        ' + head[brace:].lstrip()


def member(text):
    """A member given to BookRide."""
    return 'name = "book_ride";', f'name = "book_ride";\n    {text}'


def setting(text):
    """A setting given to BookRide."""
    return member('static constexpr pawl::Settings settings{%s};' % text)


def job_setting(text):
    """A setting given to SendReceipt."""
    return 'kind = "send_receipt";', 'kind = "send_receipt";\n    static constexpr pawl::JobSettings settings{%s};' % text


def almost(name):
    return f'pawl: a member of this operation is named almost like `{name}`, and would be ignored'


def point_field(text):
    """A field given to ChargeCreated."""
    return POINT, POINT + f'\n        {text};'


FLOW = {
    'backward_step': (BACKWARDS, [
        (FINISH, FINISH.replace('Finish', 'Next<RideCreated>')), (RESPOND, 'return RideCreated{at.ride};\n    }')]),
    'step_to_itself': (BACKWARDS, [
        (FINISH, FINISH.replace('Finish', 'Next<ChargeCreated>')), (RESPOND, 'return at;\n    }')]),
    'point_without_step': (BACKWARDS, [
        (KEEP, LOST + KEEP.replace('Next<ChargeCreated>', 'Next<ChargeCreated, Lost>'))]),
    'unreachable_point': ('pawl: no step leads to one of the recovery points', [
        (KEEP, 'Finish keep_charge(Tx&, const RideCreated&, const Charge&) { return pawl::answer(201, Place{}); }')]),
    'response_that_is_no_end': (ENDS, [(RESPOND, RESPOND.replace('answer', 'respond'))]),
    'refusal_that_is_not_declared': ('pawl: a step that may refuse says so in its type: Next<..., pawl::Refusal>', [
        (RESPOND, RESPOND.replace('answer', 'refuse'))]),
    'keeper_that_refuses': ("pawl: a keeper can't refuse, as that would undo the record of a call that was made", [
        (REFUSE, REFUSE.replace('Finish', 'Next<pawl::Refusal>').replace('answer', 'refuse'))]),
    'undeclared_target': ([CANNOT_CONVERT, 'RideCreated', 'Next<'], [
        ('return ChargeCreated{at.ride, charge.id};', '(void)charge;\n        return RideCreated{at.ride};')]),
    'two_steps_from_one_point': (SAME_NAME, [
        (LAST_STEP, LAST_STEP.replace('>>;', '>,\n        Atomic<&BookRide::finish_ride>>;'))]),
    'duplicate_name': (SAME_NAME, [(POINT, POINT.replace('charge_created', 'ride_created'))]),
    'point_that_is_named_as_the_start': (SAME_NAME, [(POINT, POINT.replace('charge_created', 'started'))]),
    'no_steps': ('pawl: an operation has at least one step', [('Steps<Atomic<&CancelRide::cancel>>', 'Steps<>')]),
    'home_made_started': ('pawl: the first step starts from pawl::Started<Request>', [
        (STARTED, 'struct Started {\n        static constexpr std::string_view name = "started";\n'
                  '        std::int64_t key_id{};\n        RideRequest request{};\n    };\n    struct RideCreated')]),
    'past_of_a_point_without_step': ('pawl: RenamedPoints names a point that no step starts from', [
        (ABANDON, ABANDON + '\n    ' + LOST + 'using RenamedPoints = pawl::RenamedPoints<pawl::Renamed<"mislaid", Lost>>;')]),
}

POINTS = {
    'reserved_name': ("pawl: a recovery point can't be named 'finished'", [
        (POINT, POINT.replace('charge_created', 'finished'))]),
    'empty_name': ('pawl: the name of a recovery point has 1 to 50 characters', [
        (POINT, POINT.replace('charge_created', ''))]),
    'name_of_51_characters': ('pawl: the name of a recovery point has 1 to 50 characters', [
        (POINT, POINT.replace('charge_created', 'c' * 51))]),
    'point_without_a_name': ('pawl: a recovery point has a `static constexpr std::string_view name`', [
        (POINT, 'struct ChargeCreated {')]),
    'point_with_a_constructor': ('pawl: a recovery point is a plain struct of values', [
        point_field('ChargeCreated(RideId, std::string)')]),
    'point_with_a_private_field': ('pawl: a recovery point is a plain struct of values', [
        ('std::vector<Class> classes{};', 'std::vector<Class> classes{};\n    private:\n        int hidden{};')]),
    'point_that_cannot_be_copied': ('pawl: a recovery point is a plain struct of values', [
        point_field('struct Once { Once() = default; Once(Once&&) = default; };\n        Once once')]),
    'point_with_a_base': ('pawl: a struct with a base class is not supported: make the base a field', [
        (POINT, POINT.replace('ChargeCreated', 'ChargeCreated : Place')),
        ('return ChargeCreated{at.ride, charge.id};', 'return ChargeCreated{{}, at.ride, charge.id};')]),
    'point_with_a_pointer': ('pawl: a pointer has no JSON form: use a value or std::optional', [
        ('std::vector<Class> classes{};', 'std::vector<Class> classes{};\n        const Place* place{};')]),
    'point_with_an_array': ('pawl: a C array is not supported as a field: use std::vector', [
        ('std::vector<Class> classes{};', 'Class classes[2]{};')]),
    'point_with_a_list_of_optionals': ('pawl: std::optional has a JSON form as a field only', [
        ('std::vector<Class> classes{};', 'std::vector<std::optional<int>> classes{};')]),
    'point_with_an_old_enumeration': ('pawl: this enumeration needs a type: write enum class E, or enum E : int', [
        ('enum class Class {', 'enum Class {')]),
    'request_that_is_no_struct': ('pawl: a request must be a plain struct: its fields are read by their names', [
        (STARTED, STARTED.replace('RideRequest', 'std::string')), (INSERT, 'insert_ride, at.key_id, at.request')]),
    'request_whose_problem_is_text': (PROBLEM_FORM, [
        (PROBLEM, 'std::string problem() const { return {}; }')]),
    'request_whose_problem_changes_it': (PROBLEM_FORM, [
        (PROBLEM, PROBLEM.replace(' const', ''))]),
}

CALLS = {
    'missing_keeper': (ONE_KEEPER, [(FOREIGN, FOREIGN.replace(', &BookRide::refuse_ride', ''))]),
    'two_keepers_of_one_result': (ONE_KEEPER, [
        (FOREIGN, FOREIGN.replace('&BookRide::refuse_ride', '&BookRide::keep_charge'))]),
    'call_without_results': (ONE_KEEPER, [
        (CALL, 'Outcome<> charge_card(KeyedCall&, const RideCreated&) { return pawl::Retry{}; }'),
        (FOREIGN, 'Foreign<Repeat::safe_with_key, &BookRide::charge_card>')]),
    'keeper_of_another_point': ('pawl: a keeper starts from the same recovery point as its call', [
        (REFUSE, REFUSE.replace('const RideCreated&', 'const ChargeCreated&'))]),
    'keeper_of_wrong_form': (KEEPER_FORM, [(REFUSE, REFUSE.replace('const Declined&', 'Declined'))]),
    'keeper_that_takes_a_call': (KEEPER_FORM, [
        (REFUSE, REFUSE.replace('const Declined& declined', 'const Declined& declined, Call&'))]),
    'keyed_without_key': (KEYED, [
        (CALL, 'Outcome<Charge, Declined> charge_card(Call&, const RideCreated&) { return Charge{"ch"}; }')]),
    'key_that_is_not_used': (KEYED, [('Repeat::safe_with_key', 'Repeat::never')]),
    'foreign_call_takes_tx': (CALL_FORM, [(CALL, CALL.replace('const RideCreated&', 'const RideCreated&, Tx&'))]),
    'foreign_call_that_is_a_phase': (CALL_FORM, [
        (CALL, CALL.replace('KeyedCall& call', 'Tx&').replace('stripe_.charge(call)', 'Charge{}'))]),
    'foreign_call_returns_a_point': (CALL_FORM, [
        (CALL, 'Next<ChargeCreated> charge_card(KeyedCall&, const RideCreated&) { return ChargeCreated{}; }')]),
    'foreign_call_makes_a_response': ([CANNOT_CONVERT, 'Response', 'Outcome<'], [
        (CALL, CALL.replace('return stripe_.charge(call)', '(void)call; return pawl::respond(503, "")'))]),
    'result_that_is_not_named': ([CANNOT_CONVERT, 'Place', 'Outcome<'], [
        (CALL, CALL.replace('{ return stripe_.charge(call)', '{ (void)call; return Place{}'))]),
    'results_of_one_name': ('pawl: two results of a foreign call share a name', [
        ('struct Declined {', 'struct Declined {\n    static constexpr std::string_view name = "Charge";')]),
    'result_that_is_a_template': (TEMPLATE, [
        ('struct Declined {', 'template <class>\nstruct Answer {'),
        ('enum class Class', 'using Declined = Answer<RideId>;\nenum class Class')]),
    'ignored_outcome': (['ignoring return', 'nodiscard'], [
        (CALL, CALL.replace('return stripe_.charge(call);', 'stripe_.charge(call);\n        return Charge{"ch"};'))]),
    'foreign_call_without_a_key_row': ('pawl: an operation without a key has no foreign call', [
        setting('.key = pawl::KeyRule::none')]),
    'before_key_of_another_form': (BEFORE_KEY, [
        (ABANDON, ABANDON + '\n    std::optional<pawl::Response> before_key(pawl::Snapshot&) { return std::nullopt; }')]),
    'before_key_that_is_private': (BEFORE_KEY, [
        (ABANDON, ABANDON + '\nprivate:\n    std::optional<pawl::Response> before_key(pawl::Snapshot&, '
         'const pawl::Asked<RideRequest>&, std::string_view) { return std::nullopt; }\npublic:')]),
    'abandon_that_is_a_response': (ABANDON_FORM, [
        (ABANDON, ABANDON.replace('Finish', 'pawl::Response').replace('answer', 'respond'))]),
    'abandon_that_goes_on': (ABANDON_FORM, [
        (ABANDON, 'Next<ChargeCreated> abandon(Tx&, const RideCreated& at, const pawl::Abandoned&) { return ChargeCreated{at.ride, ""}; }')]),
    'abandon_that_does_not_know_whether_a_call_was_made': (ABANDON_FORM, [
        (ABANDON, ABANDON.replace(', const pawl::Abandoned&', ''))]),
    'call_target_of_a_point_without_call': (TARGET_FORM, [
        (ABANDON, ABANDON + '\n    std::string call_target(const ChargeCreated&) const { return "bank"; }')]),
    'call_target_that_is_no_string': (TARGET_FORM, [
        (ABANDON, ABANDON + '\n    int call_target(const RideCreated&) const { return 1; }')]),
    'settled_by_of_a_point_without_call': (SETTLED_BY_FORM, [
        (ABANDON, ABANDON + '\n    std::optional<Charge> settled_by(const ChargeCreated&, const pawl::ProviderEvent&) const '
         '{ return std::nullopt; }')]),
    'settled_by_that_gives_no_result_of_the_call': (SETTLED_BY_FORM, [
        (ABANDON, ABANDON + '\n    std::optional<RideId> settled_by(const RideCreated&, const pawl::ProviderEvent&) const '
         '{ return std::nullopt; }')]),
    'settled_by_that_is_misspelt': (almost('settled_by'), [
        (ABANDON, ABANDON + '\n    std::optional<Charge> setled_by(const RideCreated&, const pawl::ProviderEvent&) const '
         '{ return std::nullopt; }')]),
    'abandon_of_a_point_without_call': (ABANDON_FORM, [(ABANDON, ABANDON.replace('RideCreated', 'ChargeCreated'))]),
}

HANDS = {
    'phase_of_wrong_form': (PHASE_FORM, [(CREATE, CREATE.replace('const Started& at', 'Started at'))]),
    'phase_that_takes_a_call': (PHASE_FORM, [
        (CREATE, CREATE.replace('const Started& at', 'const Started& at, Call&'))]),
    'phase_without_tx': (PHASE_FORM, [('Finish cancel(Tx&, const', 'Finish cancel(const')]),
    'network_in_atomic_phase': (['cannot convert|cannot bind', 'KeyedCall', 'Tx'], [
        in_body(FINISH, '(void)stripe_.charge(tx);')]),
    'call_made_by_hand': (['private', 'KeyedCall'], [
        in_body(FINISH, 'KeyedCall call{pawl::CallKey{"k"}, std::stop_token{}};\n'
                        '        (void)stripe_.charge(call);')]),
    'call_on_the_heap': (['private', 'KeyedCall'], [
        in_body(FINISH, '(void)stripe_.charge(*new KeyedCall{pawl::CallKey{"k"}, std::stop_token{}});')]),
    'class_derived_from_call': (['private', 'Call'], [
        in_body(FINISH, 'struct Forged : Call {\n            Forged() : Call{std::stop_token{}} {}\n        };\n'
                        '        Forged call;')]),
    'class_derived_from_keyed_call': (['private', 'KeyedCall'], [
        in_body(FINISH, 'struct Forged : KeyedCall {\n            Forged() : KeyedCall{pawl::CallKey{"k"}, std::stop_token{}} {}\n'
                        '        };\n        Forged call;')]),
    'copied_call': (['deleted', 'KeyedCall'], [in_body(CALL, 'KeyedCall mine = call;')]),
    'copied_tx': (['deleted', 'Tx'], [in_body(FINISH, 'Tx mine = tx;')]),
    'moved_tx': (['deleted', 'Tx'], [in_body(FINISH, 'Tx mine = std::move(tx);')]),
    'tx_made_by_hand': (['no matching', 'pawl::Tx'], [in_body(CALL, 'Tx tx;')]),
    'class_derived_from_tx': (['private|deleted', 'Tx'], [
        in_body(CALL, 'struct Forged : Tx {\n            explicit Forged(pawl::detail::TxContext& at) : Tx{at} {}\n'
                      '        };')]),
    'copied_snapshot': (['deleted', 'Snapshot'], [in_body(ANSWER, 'pawl::Snapshot mine = read;')]),
    'write_in_a_query': ('pawl: a query changes nothing: what writes is an operation', [
        in_body(ANSWER, 'pawl::execute(read, insert_ride, 1, 2.0);')]),
    'query_that_takes_a_tx': (QUERY_FORM, [('pawl::Response answer(pawl::Snapshot&', 'pawl::Response answer(Tx&')]),
    'statement_with_another_number_of_parameters': (
        # The second text is clang's, whose note names the function.
        ['statement_n_must_have_as_many_parameters_in_its_text|must be initialized by a constant expression'], [
            ('pawl::Statement<2> insert_ride', 'pawl::Statement<1> insert_ride')]),
    'too_few_arguments': (ARGUMENTS, [(INSERT, 'insert_ride, at.key_id')]),
    'too_many_arguments': (ARGUMENTS, [(INSERT, INSERT + ', 1')]),
    'fields_in_another_order': ('pawl: the fields of this struct are not named as the parameters of the statement', [
        ('email, customer;', 'customer, email;')]),
    'parameter_of_no_sql_type': ('pawl: a parameter is a number, text, enum, time, optional', [
        (INSERT, 'insert_ride, at.key_id, at')]),
    'column_of_no_sql_type': ('pawl: a column is a number, text, enum, time, optional', [
        in_body(CREATE, f'(void)pawl::query<const char*>(tx, {INSERT});')]),
}

PARTS = {
    'operation_without_a_name': ('pawl: the name of an operation has 1 to 50 characters', [
        ('name = "cancel_ride"', 'name = ""')]),
    'key_of_another_type': (['cannot convert|could not convert|no viable conversion|cannot initialize', 'bool', 'KeyRule'], [
        setting('.key = true')]),
    'memory_in_minutes': (['could not convert|no viable conversion', 'minutes|ratio<60>', 'hours|ratio<3600>'], [
        setting('.provider_key_lifetime = std::chrono::minutes{30}')]),
    'keep_without_a_unit': (['could not convert|no viable conversion', 'int', 'optional'], [setting('.keep = 72')]),
    'setting_that_is_misspelt': (['isolaton', 'Settings'], [setting('.isolaton = pawl::Isolation::serializable')]),
    'setting_of_its_own': (LOOSE, [member('static constexpr auto isolation = pawl::Isolation::serializable;')]),
    'setting_of_a_lifetime_alone': (LOOSE, [member('static constexpr std::chrono::hours provider_key_lifetime{20};')]),
    'setting_of_a_repeat_alone': (LOOSE, [member('static constexpr bool re_execute = true;')]),
    'settings_of_another_type': (SETTINGS, [member('static constexpr int settings = 1;')]),
    'settings_that_are_private': (SETTINGS, [
        (ABANDON, ABANDON + '\nprivate:\n    static constexpr pawl::Settings settings{};\npublic:')]),
    'settings_that_are_misspelt': (almost('settings'), [
        member('static constexpr pawl::Settings setings{.keep = pawl::for_ever};')]),
    'abandon_that_is_misspelt': (almost('abandon'), [(ABANDON, ABANDON.replace('abandon(', 'abandn('))]),
    'abandon_that_is_private': (ABANDON_FORM, [(ABANDON, 'private:\n    ' + ABANDON + '\npublic:')]),
    'before_key_that_is_misspelt': (almost('before_key'), [
        (ABANDON, ABANDON + '\n    std::optional<pawl::Response> beforeKey(pawl::Snapshot&, '
         'const pawl::Asked<RideRequest>&, std::string_view) { return std::nullopt; }')]),
    'call_target_that_is_misspelt': (almost('call_target'), [
        (ABANDON, ABANDON + '\n    std::string call_traget(const RideCreated&) const { return "bank"; }')]),
    'call_target_that_is_private': (TARGET_FORM, [
        (ABANDON, ABANDON + '\nprivate:\n    std::string call_target(const RideCreated&) const { return "bank"; }\npublic:')]),
    'problem_that_is_misspelt': ('pawl: a function of this request is named almost like `problem`, and would be ignored', [
        (PROBLEM, PROBLEM.replace('problem', 'problm'))]),
    'job_staged_outside_a_phase': (["no member named", "'stage'|‘stage’", 'KeyedCall'], [
        in_body(CALL, 'call.stage(SendReceipt{});')]),
    'job_without_a_kind': (JOB_FORM, [('static constexpr std::string_view kind = "send_receipt";', '')]),
    'job_of_an_empty_kind': (JOB_FORM, [('kind = "send_receipt"', 'kind = ""')]),
    'job_of_an_impossible_priority': (JOB_FORM, [job_setting('.priority = 5')]),
    'job_without_attempts': (JOB_FORM, [job_setting('.attempts = 0')]),
    'job_of_too_many_attempts': (JOB_FORM, [job_setting('.attempts = 101')]),
    'job_of_no_time': (JOB_FORM, [job_setting('.timeout = std::chrono::seconds{0}')]),
    'job_timeout_without_a_unit': (['could not convert|no viable conversion', 'int', 'optional'], [job_setting('.timeout = 5')]),
    'job_setting_that_is_misspelt': (['prioritty', 'JobSettings'], [job_setting('.prioritty = 2')]),
    'job_settings_that_are_misspelt': (JOB_FORM, [
        ('kind = "send_receipt";', 'kind = "send_receipt";\n    static constexpr pawl::JobSettings setting{.priority = 2};')]),
    'job_settings_of_an_operation': (JOB_FORM, [
        ('kind = "send_receipt";', 'kind = "send_receipt";\n    static constexpr pawl::Settings settings{};')]),
    'job_with_a_partition_that_is_misspelt': (JOB_FORM, [(
        'kind = "send_receipt";', 'kind = "send_receipt";\n    std::string partitions() const { return "7"; }')]),
    'job_with_a_partition_that_is_no_text': (JOB_FORM, [(
        'kind = "send_receipt";', 'kind = "send_receipt";\n    int partition() const { return 7; }')]),
    'job_with_a_partition_that_changes_it': (JOB_FORM, [(
        'kind = "send_receipt";', 'kind = "send_receipt";\n    std::string partition() { return "7"; }')]),
    'job_of_an_impossible_queue': (JOB_FORM, [job_setting('.queue = "My mails"')]),
    'job_with_a_pointer': ('pawl: a pointer has no JSON form: use a value or std::optional', [
        ('std::optional<Class> flown{};', 'std::optional<Class> flown{};\n    const char* note{};')]),
    'handler_with_both': (HANDLER_FORM, [(JOB, JOB.replace('Tx&,', 'Tx&, Call&,'))]),
    'handler_that_returns_a_flag': (HANDLER_FORM, [
        (JOB, JOB.replace('pawl::JobResult', 'bool').replace('pawl::done', 'true'))]),
    'handler_of_no_job': (HANDLER_FORM, [(JOB, JOB.replace('pawl::Job<SendReceipt>', 'SendReceipt'))]),
    'operation_without_a_flow': ('pawl: an operation has a public `using Flow = pawl::Steps<...>` with its steps', [
        ('using Flow = Steps<Atomic<&CancelRide::cancel>>;', '')]),
    'operation_without_any_name': ('pawl: an operation has a public `static constexpr std::string_view name`', [
        ('static constexpr std::string_view name = "cancel_ride";', '')]),
    'operation_that_cannot_be_moved': ('pawl: a service takes an operation by value', [
        ('static constexpr std::string_view name = "cancel_ride";',
         'static constexpr std::string_view name = "cancel_ride";\n    CancelRide() = default;\n    CancelRide(CancelRide&&) = delete;')]),
    'service_of_something_else': (HANDLER_FORM, [('service.add(PointsWorker{});', 'service.add(Place{});')]),
    'query_of_something_else': (QUERY_FORM, [
        ('server.get("/rides", ListRides{});', 'server.get("/rides", Place{});')]),
}

POST = 'client.post("/rides", "{}", key)'
CLIENT = {
    'post_without_a_key': (['deleted', 'post'], [(POST, 'client.post("/rides", "{}")')]),
    'post_under_a_mere_string': (['deleted', 'post'], [(POST, 'client.post("/rides", "{}", std::string{"new each time"})')]),
    'key_that_nobody_keeps': (["private|protected", 'ClientKey'], [
        ('pawl::ClientKey::saved("kept by us")', 'pawl::ClientKey{std::string{"new each time"}}')]),
}

CHECKED = 'pawl::check_fencing_token(tx, lease.fencing_token());'
NO_TOKEN = 'pawl: an efficiency lease has no fencing token, as its backend may repeat an epoch: use a Lease'

LOCKS = {
    'fencing_token_of_an_efficiency_lease': (NO_TOKEN, [('(void)spare.is_held();', 'spare.fencing_token();')]),
    'efficiency_lease_for_a_lease': ([CANNOT_CONVERT + '|invalid initialization|no matching', 'EfficiencyLease'], [
        ('(void)spare.is_held();', 'const pawl::Lease& lease = spare;\n        (void)lease;')]),
    'lease_for_its_fencing_token': (['Lease', 'FencingToken'], [(CHECKED, 'pawl::check_fencing_token(tx, lease);')]),
    'number_for_a_fencing_token': (['int', 'FencingToken'], [(CHECKED, 'pawl::check_fencing_token(tx, 7);')]),
    'fencing_token_made_by_hand': (['private', 'FencingToken'], [(CHECKED, 'pawl::check_fencing_token(tx, pawl::FencingToken{"books", 7});')]),
    'lease_made_by_hand': (['private|protected|no matching', 'Lease'], [
        (CHECKED, 'pawl::Lease mine{nullptr, nullptr};\n        pawl::check_fencing_token(tx, mine.fencing_token());')]),
    'copied_lease': (['deleted', 'Lease'], [(CHECKED, 'pawl::Lease mine = lease;')]),
    'lock_in_a_foreign_call': (['KeyedCall', 'Tx'], [in_body(CALL, 'pawl::tx_lock(call, "books");')]),
    'lock_in_a_query': (['Snapshot', 'Tx'], [in_body(ANSWER, 'pawl::tx_lock(read, "books");')]),
    'ignored_try_of_a_lock': (['ignoring return', 'nodiscard'], [
        ('pawl::tx_lock(tx, "books");', 'pawl::try_tx_lock(tx, "books");')]),
    'window_without_a_unit': ([CANNOT_CONVERT, 'chrono|duration|milliseconds'], [
        ('.window = std::chrono::hours{1}', '.window = 5')]),
    'window_that_stores_a_pointer': ('pawl: a pointer has no JSON form: use a value or std::optional', [
        ('return RideId{7}; });', 'return static_cast<const Place*>(nullptr); });')]),
}

# Several providers, and inquiries.
ROUTES = {
    'inquiry_with_a_call': (KEEPER_FORM, [(ASK, ASK.replace('InquiryCall', 'KeyedCall'))]),
    'inquiry_of_another_point': ('pawl: an inquiry starts from the same recovery point as its call',
                                 [(ASK, ASK.replace('const Ordered&', 'const Started&'))]),
    'inquiry_finds_what_the_call_never_returns': (
        'pawl: an inquiry finds results of its call', [(ASK, ASK.replace('<Charge, Declined>', '<Charge, Place>'))]),
    'two_inquiries': ('pawl: a foreign call has at most one inquiry', [('&PayPilot::ask,', '&PayPilot::ask, &PayPilot::ask,')]),
    'routed_call_by_key': (ROUTED, [('pay(pawl::RoutedCall&, const Ordered&)', 'pay(KeyedCall&, const Ordered&)')]),
    'routed_call_with_one_provider': (KEYED, [(CALL, CALL.replace('KeyedCall', 'pawl::RoutedCall'))]),
    'try_next_with_one_provider': ('pawl: only a Routed call, which has several providers, may TryNext', [
        (CALL, CALL.replace('Declined>', 'Declined, pawl::TryNext<Declined>>').replace('stripe_.charge(call)', 'Charge{}')
         .replace('& call', '&'))]),
    'try_next_without_its_refusal': ('pawl: TryNext<R> stands beside R among the results of its call', [
        ('Outcome<Charge, Declined, pawl::TryNext<Declined>> pay', 'Outcome<Charge, Declined, pawl::TryNext<Place>> pay'),
        ('return pawl::TryNext{Declined{"another bank may"}};', 'return pawl::TryNext{Place{}};')]),
    'route_in_a_transaction': (ROUTE_FORM, [('route(const Ordered& at) const {', 'route(Tx&, const Ordered& at) const {')]),
    'route_of_another_point': (ROUTE_FORM, [('route(const Ordered& at) const { return {router_, {at.cents, "usd"}}; }',
                                             'route(const Started&) const { return {router_, {1, "usd"}}; }')]),
    'routed_result_without_a_keeper': (ONE_KEEPER, [('&PayPilot::keep_payment, &PayPilot::keep_decline>>;', '&PayPilot::keep_payment>>;')]),
    'ask_for_outside_the_settings': (LOOSE, [member('static constexpr std::chrono::minutes ask_for{5};')]),
}

WRONG = ROUTES | FLOW | POINTS | CALLS | HANDS | PARTS | CLIENT | LOCKS
