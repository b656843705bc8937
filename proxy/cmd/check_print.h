/* The answers of `weir check`: for people, and as JSON for programs. */
#ifndef CMD_CHECK_PRINT_H
#define CMD_CHECK_PRINT_H

#include "proxy/cmd/check_target.h"
#include "proxy/cmd/judge.h"

/* One target and what was decided about it. */
struct check_answer {
    struct str asked; /* as it was written */
    const struct target *target;
    enum port_from port_from;
    const struct judged *judged;
};

/* A line, and for a denial what decided and how to allow it. */
void check_print_text(struct judge *j, const struct check_answer *a);
/* One object, one line. */
void check_print_json(struct judge *j, const struct check_answer *a);
/* What the file holds, when nothing is asked. */
void check_print_summary(const struct judge *j);

#endif
