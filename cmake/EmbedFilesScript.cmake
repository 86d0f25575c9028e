# Run by phaze_embed_files: writes OUTPUT with the text of FILES behind ACCESSOR().
set(entries "")
foreach(file IN LISTS FILES)
  # Only the last extension goes: a model may be called qwen2.5-7b.
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"~~~(${text})~~~\"sv},\n")
endforeach()
list(LENGTH FILES count)
file(WRITE ${OUTPUT}
"#include <array>\n#include \"phaze/base/embedded_file.h\"\n\nnamespace phaze {\nstd::span<const EmbeddedFile> ${ACCESSOR}();\nstd::span<const EmbeddedFile> ${ACCESSOR}() {\n  using namespace std::string_view_literals;  // they know their length; counting a large file is too much for the compiler\n  static constexpr std::array<EmbeddedFile, ${count}> kFiles = {{\n${entries}}};\n  return kFiles;\n}\n}  // namespace phaze\n")
