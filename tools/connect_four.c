/* The exact value of connect-four positions, 7 columns of 6 cells: won, drawn or lost for who is to move.

   A bit per cell and one above each column (Tromp 1995), so that a line is four bits at equal steps; alpha-beta
   (Knuth and Moore 1975) with a table of bounds, the moves ordered by the threats that they make. */

#include <stdint.h>

typedef uint64_t board;

#define COLUMNS 7
#define STEP 7 /* from a column to the next one */
#define SLOTS (1u << 24)

static const board BOTTOM = 0x0040810204081ull;  /* the lowest cell of each column */
static const board CELLS = 0x0040810204081ull * 63;
static board table[SLOTS];  /* position << 4 | upper bound + 1 << 2 | lower bound + 1 */

/* The free cells that complete a line of some stones. */
board threats(board stones, board taken) {
    board found = (stones << 1) & (stones << 2) & (stones << 3);
    for (int step = STEP - 1; step <= STEP + 1; step++) {
        board above = (stones << step) & (stones << 2 * step), below = (stones >> step) & (stones >> 2 * step);
        found |= above & ((stones << 3 * step) | (stones >> step));
        found |= below & ((stones >> 3 * step) | (stones << step));
    }
    return found & CELLS & ~taken;
}

static board drops(board taken) { return (taken + BOTTOM) & CELLS; }

/* The value for who has the stones `mine` and is to move, and cannot win at once. */
static int search(board mine, board taken, int alpha, int beta) {
    board theirs = mine ^ taken, moves = drops(taken), danger = threats(theirs, taken);
    if (!moves) return 0;
    board forced = moves & danger;
    if (forced & (forced - 1)) return -1;
    if (forced) moves = forced;
    moves &= ~(danger >> 1); /* a stone below such a cell lets them in */
    if (!moves) return -1;

    board key = mine + taken + BOTTOM, *slot = &table[(key * 0x9E3779B97F4A7C15ull) >> 40];
    int least = -1, most = 1;
    if (*slot >> 4 == key) {
        least = (int)(*slot & 3) - 1;
        most = (int)(*slot >> 2 & 3) - 1;
        if (least > alpha) alpha = least;
        if (most < beta) beta = most;
        if (alpha >= beta) return least >= beta ? least : most;
    }

    board ordered[COLUMNS];
    int weights[COLUMNS], count = 0;
    for (int away = 0; away < COLUMNS; away++) { /* from the middle outwards */
        int column = COLUMNS / 2 + (away & 1 ? -(away + 1) / 2 : away / 2);
        board move = moves & (63ull << column * STEP);
        if (!move) continue;
        int weight = __builtin_popcountll(threats(mine | move, taken)), at = count++;
        for (; at && weights[at - 1] < weight; at--) ordered[at] = ordered[at - 1], weights[at] = weights[at - 1];
        ordered[at] = move, weights[at] = weight;
    }
    int best = -1, start = alpha;
    for (int i = 0; i < count; i++) {
        int value = -search(theirs, taken | ordered[i], -beta, -alpha);
        if (value > best) best = value;
        if (best > alpha) alpha = best;
        if (alpha >= beta) break;
    }
    if (best <= start) most = best < most ? best : most;
    else if (best >= beta) least = best > least ? best : least;
    else least = most = best;
    *slot = key << 4 | (board)(most + 1) << 2 | (board)(least + 1);
    return best;
}

/* 1, 0 or -1 for who has the stones `mine` and is to move; no line has been made. */
int value(board mine, board taken) {
    return drops(taken) & threats(mine, taken) ? 1 : search(mine, taken, -1, 1);
}
