/** A graph, walked once in each round. Nodes are numbered from 0. */
export interface RankGraph {
  readonly size: number;
  /**
   * Calls `visit` one or more times for every node that has links, each time with some of its targets. `degree`
   * is the total number of the node's links.
   */
  walk(visit: (node: number, targets: Uint32Array, degree: number) => void): Promise<void>;
}

export interface PageRankOptions {
  /**
   * The probability of following a link instead of jumping to a random node; at least 0 and below 1, default
   * 0.85.
   */
  readonly damping?: number | undefined;
  /** The iteration stops when the sum of all changes in a round is below this; default 1e-8. */
  readonly tolerance?: number | undefined;
  /** Default 200. */
  readonly maxRounds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRound?: ((round: number, change: number) => void) | undefined;
}

export interface PageRanks {
  /** The rank of each node; all ranks sum to 1. */
  readonly ranks: Float64Array;
  readonly rounds: number;
  /** The sum of all changes in the last round. */
  readonly change: number;
  /** Whether `change` is below the tolerance. */
  readonly converged: boolean;
}

const DEFAULTS = { damping: 0.85, tolerance: 1e-8, maxRounds: 200 } as const;

/**
 * Computes PageRank by power iteration. A node divides its rank equally among the nodes that it links to;
 * a node without links divides it among all nodes. Memory is two numbers for each node, independent of the
 * number of links.
 */
export async function pageRank(graph: RankGraph, options: PageRankOptions = {}): Promise<PageRanks> {
  const { size } = graph;
  const damping = options.damping ?? DEFAULTS.damping;
  const tolerance = options.tolerance ?? DEFAULTS.tolerance;
  const maxRounds = options.maxRounds ?? DEFAULTS.maxRounds;
  let ranks = new Float64Array(size).fill(1 / size);
  let next = new Float64Array(size);
  let change = size === 0 ? 0 : Number.POSITIVE_INFINITY;
  let rounds = 0;
  while (change >= tolerance && rounds < maxRounds && size > 0) {
    options.signal?.throwIfAborted();
    next.fill(0);
    let distributed = 0;
    await graph.walk((node, targets, degree) => {
      const share = (ranks[node] ?? 0) / degree;
      for (let i = 0; i < targets.length; i++) next[targets[i]!]! += share;
      distributed += share * targets.length;
    });
    // The rank of nodes without links and the rank of random jumps are distributed evenly.
    const evenShare = (1 - damping + damping * Math.max(0, 1 - distributed)) / size;
    change = 0;
    for (let node = 0; node < size; node++) {
      const rank = evenShare + damping * next[node]!;
      change += Math.abs(rank - ranks[node]!);
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    rounds++;
    options.onRound?.(rounds, change);
  }
  return { ranks, rounds, change, converged: change < tolerance };
}
