# Fuzz targets of the configuration readers. Seeds: rules/*.yaml, phase-maps/*.yaml.
if(NOT COMMAND nai_fuzz_target)
  # libFuzzer programs exist in the fuzz preset only.
  function(nai_fuzz_target name)
    if(NAI_FUZZ)
      add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
      target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
      target_link_libraries(${name} PRIVATE ${ARGN})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    endif()
  endfunction()
endif()

nai_fuzz_target(fuzz_rules nai_rules nai_assets)
nai_fuzz_target(fuzz_phase_map nai_config nai_assets)
