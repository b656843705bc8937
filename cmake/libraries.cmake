# Outside libraries, each as an interface target. Linked statically where Debian ships
# the archive: loading a dozen shared objects costs more than the rest of `weir run`.
set(WEIR_DEPS ${PROJECT_SOURCE_DIR}/.deps CACHE PATH "where bootstrap.sh unpacked llhttp")

function(weir_library name header)
    find_path(${name}_INCLUDE ${header} HINTS ${WEIR_DEPS}/usr/include REQUIRED)
    add_library(${name} INTERFACE)
    target_include_directories(${name} SYSTEM INTERFACE ${${name}_INCLUDE})
    foreach(lib ${ARGN})
        find_library(${name}_${lib} NAMES lib${lib}.a ${lib}
                     HINTS ${WEIR_DEPS}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} REQUIRED)
        target_link_libraries(${name} INTERFACE ${${name}_${lib}})
    endforeach()
endfunction()

weir_library(weir_ev ev.h ev)
# libm belongs to libc: an archive of it does not go with a shared libc.
target_link_libraries(weir_ev INTERFACE m)
weir_library(weir_llhttp llhttp.h llhttp)
weir_library(weir_cjson cjson/cJSON.h cjson)
weir_library(weir_idn2 idn2.h idn2 unistring)
weir_library(weir_psl libpsl.h psl idn2 unistring)
weir_library(weir_cares ares.h cares)
weir_library(weir_seccomp seccomp.h seccomp)

# An archive of OpenSSL does not say what it was built with: in Debian 13 zlib and zstd.
weir_library(weir_openssl openssl/ssl.h ssl crypto)
foreach(lib z zstd)
    find_library(weir_openssl_${lib} NAMES lib${lib}.a ${lib})
    if(weir_openssl_${lib})
        target_link_libraries(weir_openssl INTERFACE ${weir_openssl_${lib}})
    endif()
endforeach()
find_package(Threads REQUIRED)
target_link_libraries(weir_openssl INTERFACE ${CMAKE_DL_LIBS} Threads::Threads)
