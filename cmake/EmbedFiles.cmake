# phaze_embed_files(TARGET ACCESSOR FILES...) compiles text files into TARGET, behind the function
#   std::span<const phaze::EmbeddedFile> phaze::ACCESSOR();
# which whoever uses it declares. The binary then needs no data folder beside it.
function(phaze_embed_files target accessor)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${accessor}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DACCESSOR=${accessor} "-DFILES=${ARGN}" -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    VERBATIM)
  # Alone, so that clang-tidy can look at the other sources before this one is made.
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
