# Run by phaze_embed_files: writes OUTPUT with the text of FILES behind ACCESSOR().
# A string literal may hold 64 KiB by the standard, so longer files are cut into adjacent literals.
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(base ${file} NAME)
  string(REGEX REPLACE "\\.[a-z]+$" "" name "${base}")
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"~~~(${text})~~~\"},\n")
endforeach()
list(LENGTH FILES count)
file(WRITE ${OUTPUT}
"#include <array>\n#include \"phaze/base/embedded_file.h\"\n\nnamespace phaze {\nnamespace {\nconstexpr std::array<EmbeddedFile, ${count}> kFiles = {{\n${entries}}};\n}  // namespace\n\nstd::span<const EmbeddedFile> ${ACCESSOR}();\nstd::span<const EmbeddedFile> ${ACCESSOR}() { return kFiles; }\n}  // namespace phaze\n")
