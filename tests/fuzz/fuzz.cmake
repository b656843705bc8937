# One libFuzzer target a file. In CI each runs WEIR_FUZZ_SECONDS over its corpus.
set(WEIR_FUZZ_SECONDS 10 CACHE STRING "seconds a fuzz target runs under ctest")
file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fuzz_*.c)
foreach(source ${targets})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "fuzz_" "" corpus ${name})
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE weir_core)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/corpus/${corpus})
    add_test(NAME fuzz/${corpus}
             COMMAND ${name} -max_total_time=${WEIR_FUZZ_SECONDS} -timeout=5 -rss_limit_mb=1024
                     -print_final_stats=0 ${PROJECT_BINARY_DIR}/corpus/${corpus}
                     ${CMAKE_CURRENT_LIST_DIR}/corpus/${corpus})
    set_tests_properties(fuzz/${corpus} PROPERTIES LABELS ci TIMEOUT 4000)
endforeach()
