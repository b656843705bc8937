# The comparison with srt (oracle/README.md): `oracle/compare` against the vectors in the
# tree, on every machine; `oracle/live` makes them anew where node and npm are, from the
# peer's own code.
add_executable(oracle_compare oracle/carrier.c oracle/compare.c oracle/policies.c
               oracle/predicates.c oracle/predicates_entry.c oracle/predicates_request.c
               oracle/spelling.c oracle/tally.c oracle/vectors.c)
target_link_libraries(oracle_compare PRIVATE weir_policy)

set(oracle ${CMAKE_CURRENT_SOURCE_DIR}/oracle)
add_test(NAME oracle/compare
         COMMAND /usr/bin/python3 ${oracle}/run.py compare $<TARGET_FILE:oracle_compare>)
set_tests_properties(oracle/compare PROPERTIES LABELS ci TIMEOUT 300)

add_test(NAME oracle/live
         COMMAND /usr/bin/python3 ${oracle}/run.py live ${CMAKE_CURRENT_BINARY_DIR}/oracle)
set_tests_properties(oracle/live PROPERTIES LABELS ci TIMEOUT 600 SKIP_RETURN_CODE 77)
