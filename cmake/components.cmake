# What a user of Pawl links to: pawl::pawl, pawl::http, ... They stand for the libraries of src, whose division may change.

# pawl_component(http PARTS listener http_server NEEDS pawl)  -> pawl::http
function(pawl_component name)
    cmake_parse_arguments(ARG "" "" "PARTS;NEEDS" ${ARGN})
    list(TRANSFORM ARG_PARTS PREPEND pawl_)
    list(TRANSFORM ARG_NEEDS PREPEND pawl_component_ OUTPUT_VARIABLE needs)
    add_library(pawl_component_${name} INTERFACE)
    add_library(pawl::${name} ALIAS pawl_component_${name})
    target_link_libraries(pawl_component_${name} INTERFACE ${ARG_PARTS} ${needs})
endfunction()

set(outside "")
if(PAWL_REDIS)
    list(APPEND outside queue_redis redis_connection)
endif()
if(PAWL_KAFKA)
    list(APPEND outside queue_kafka)
endif()
pawl_component(pawl PARTS core base json store store_open store_sqlite store_postgres store_memory queue engine ops locks ${outside})
target_link_libraries(pawl_component_pawl INTERFACE Boost::headers)  # The public headers use Boost.PFR.
pawl_component(http PARTS listener http_date http_server NEEDS pawl)
pawl_component(client PARTS transfer retrying_client outbox NEEDS http)
pawl_component(command_line PARTS cli NEEDS pawl)
# The queues in Redis and Kafka are in pawl::pawl, as a program chooses its queue when it starts. These two say that a build has them.
if(PAWL_REDIS)
    pawl_component(redis NEEDS pawl)
endif()
if(PAWL_KAFKA)
    pawl_component(kafka NEEDS pawl)
endif()
