# `cmake --install` copies the program, its manual page, completions, the systemd unit,
# examples and the documents, and writes down what it copied: cmake/uninstall.sh removes
# exactly that.
include(GNUInstallDirs)
set(data ${PROJECT_SOURCE_DIR}/proxy/data)
set(docs ${CMAKE_INSTALL_DATADIR}/doc/weir)

install(TARGETS weir RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${data}/weir.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${docs})

# Which prefix it is, is known only when it is installed.
install(CODE "
    set(WEIR_BINARY \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/weir)
    configure_file(${data}/weir.service.in ${PROJECT_BINARY_DIR}/weir.service @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/weir.service ${data}/weir.socket
        DESTINATION lib/systemd/system)

function(weir_install_data file destination)
    if(EXISTS ${data}/${file})
        install(FILES ${data}/${file} DESTINATION ${destination} ${ARGN})
    endif()
endfunction()
weir_install_data(weir.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weir)
weir_install_data(weir.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME srt)
weir_install_data(_weir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
weir_install_data(weir.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
weir_install_data(weir.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME srt.fish)
file(GLOB examples CONFIGURE_DEPENDS ${data}/*.json ${data}/*.jsonc)
install(FILES ${examples} DESTINATION ${docs}/examples)

# Last, since it tells what was copied before it.
install(CODE "
    set(list \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/weir/installed-files)
    string(REPLACE \";\" \"\\n\" lines \"\${CMAKE_INSTALL_MANIFEST_FILES}\")
    file(WRITE \${list} \"\${lines}\\n\")")
