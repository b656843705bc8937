/* Whose names a wildcard would match: below "co.uk" stand the domains of everybody,
 * below "github.io" the pages of all its users, below "example.com" those of one owner.
 * By the public suffix list that libpsl was built with. */
#ifndef POLICY_SUFFIX_H
#define POLICY_SUFFIX_H

enum suffix {
    SUFFIX_PUBLIC = 0, /* a registry's; also every top-level domain, listed or not */
    SUFFIX_PRIVATE,    /* a company's, under which others register */
    SUFFIX_NONE,       /* a registered domain, or something below one */
};

/* `name` is canonical. Without a list everything is SUFFIX_PUBLIC. */
enum suffix suffix_of(const char *name);

#endif
