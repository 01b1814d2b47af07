# Fuzz targets of the renderers and of table files. They need no seeds.
foreach(name template escape table)
  add_executable(fuzz_${name} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${name}.c)
  target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(fuzz_${name} PRIVATE nai_render)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} -seed=1 -runs=20000 -max_len=512 -timeout=20)
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endforeach()
