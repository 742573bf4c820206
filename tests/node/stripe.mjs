// Calls our stand-in for Stripe with Stripe's own library, for tests/integration/stripe_cases.py.
// The argument is one JSON object; a list of outcomes goes to standard output.
//
//   {"port": 12111, "key": "sk_test", "retries": 3, "timeout": 1000,
//    "calls": [{"do": "charge", "with": {"amount": 2000, ...}, "idempotencyKey": "k"}, ...], "together": false}
import Stripe from 'stripe';

const given = JSON.parse(process.argv[2]);
const stripe = new Stripe(given.key, {
  host: '127.0.0.1', port: given.port, protocol: 'http', maxNetworkRetries: given.retries, timeout: given.timeout, telemetry: false});

const verbs = {
  charge: (call, options) => stripe.charges.create(call.with, options),
  capture: (call, options) => stripe.charges.capture(call.id, call.with, options),
  refund: (call, options) => stripe.refunds.create(call.with, options),
  show: call => stripe.charges.retrieve(call.id),
  show_refund: call => stripe.refunds.retrieve(call.id),
  elsewhere: call => stripe.rawRequest('GET', call.path),
};

async function outcome(call) {
  let requests = 0;
  const count = () => { requests += 1; };
  stripe.on('request', count);
  try {
    const options = call.idempotencyKey ? {idempotencyKey: call.idempotencyKey} : {};
    const found = await verbs[call.do](call, options);
    const {headers, requestId, apiVersion} = found.lastResponse;
    return {ok: found, requests, requestId, apiVersion, replayed: headers['idempotent-replayed'] === 'true',
            original: headers['original-request']};
  } catch (error) {
    const {type, rawType, code, message, param, decline_code, charge, doc_url, requestId, statusCode} = error;
    return {error: {class: error.constructor.name, isStripes: error instanceof Stripe.errors.StripeError, type, rawType, code, message,
                    param, decline_code, charge, doc_url, requestId, statusCode}, requests};
  } finally {
    stripe.off('request', count);
  }
}

const outcomes = [];
if (given.together) outcomes.push(...await Promise.all(given.calls.map(outcome)));
else for (const call of given.calls) outcomes.push(await outcome(call));
// The library's timers for time-outs would otherwise keep the process alive.
process.stdout.write(JSON.stringify(outcomes) + '\n', () => process.exit(0));
