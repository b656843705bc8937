# What each profile of CMakePresets.json means for the compiler.
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                    -Wpointer-arith -Wwrite-strings -Wvla -fno-omit-frame-pointer)
if(WEIR_WERROR)
    add_compile_options(-Werror)
endif()

# Assertions stay on in every profile: what they catch must not go on.
foreach(config RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${config} "${CMAKE_C_FLAGS_${config}}")
endforeach()

if(WEIR_PROFILE STREQUAL "release")
    add_compile_options(-fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE
                        -D_FORTIFY_SOURCE=2)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
        add_compile_options(-fcf-protection=full)
    endif()
    add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack)
elseif(WEIR_PROFILE STREQUAL "dev")
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
elseif(WEIR_PROFILE STREQUAL "tsan")
    add_compile_options(-fsanitize=thread)
    add_link_options(-fsanitize=thread)
elseif(WEIR_PROFILE STREQUAL "fuzz")
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined
                        -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
else()
    message(FATAL_ERROR "WEIR_PROFILE: \"${WEIR_PROFILE}\" is not release, dev, tsan or fuzz")
endif()
