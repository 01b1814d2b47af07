# Embeds text files in a program, which links TARGET. Each file becomes one entry of `nai_assets[]`
# (src/base/assets.h): its path relative to the source tree, its bytes and its length.
# The bytes go in through the assembler's .incbin, so megabytes cost no compile time.
function(nai_embed target)
  set(asm "")
  set(table "")
  set(n 0)
  foreach(file ${ARGN})
    string(APPEND asm ".global nai_asset_${n}\nnai_asset_${n}:\n.incbin \"${CMAKE_SOURCE_DIR}/${file}\"\n"
      ".global nai_asset_${n}_end\nnai_asset_${n}_end:\n.byte 0\n")
    string(APPEND externs "extern const char nai_asset_${n}[], nai_asset_${n}_end[];\n")
    string(APPEND table "  { \"${file}\", nai_asset_${n}, nai_asset_${n}_end },\n")
    math(EXPR n "${n} + 1")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
    list(APPEND deps ${CMAKE_SOURCE_DIR}/${file})
  endforeach()
  set(out ${CMAKE_BINARY_DIR}/${target})
  file(CONFIGURE OUTPUT ${out}/blobs.S CONTENT
    "#ifdef __CET__ // what an object does not say of itself, the program is not\n#include <cet.h>\n#endif\n.section .rodata\n${asm}\n.section .note.GNU-stack,\"\",%progbits\n" @ONLY)
  file(CONFIGURE OUTPUT ${out}/assets.c CONTENT
    "#include \"base/assets.h\"\n${externs}\nconst struct nai_asset nai_assets[] = {\n${table}  { 0, 0, 0 },\n};\n" @ONLY)
  set_source_files_properties(${out}/blobs.S PROPERTIES OBJECT_DEPENDS "${deps}")
  add_library(${target} OBJECT ${out}/assets.c ${out}/blobs.S)
  target_include_directories(${target} PRIVATE src)
endfunction()
