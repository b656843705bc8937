/* Chance that repeats itself: the same seed gives the same vectors on every machine and
 * with every version of node (32-bit integer arithmetic only). */

export class Random {
    constructor(seed) {
        this.state = seed >>> 0;
    }

    /* A whole number from 0 to 2^32 - 1. */
    next() {
        let t;

        this.state = (this.state + 0x6d2b79f5) >>> 0;
        t = this.state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return (t ^ (t >>> 14)) >>> 0;
    }

    below(limit) {
        return this.next() % limit;
    }

    between(low, high) {
        return low + this.below(high - low + 1);
    }

    /* True `percent` times in a hundred. */
    chance(percent) {
        return this.below(100) < percent;
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}
