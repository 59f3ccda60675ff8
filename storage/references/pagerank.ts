/** A graph that is walked once a round. Nodes are numbered from 0. */
export interface RankGraph {
  readonly size: number;
  /** Calls `visit` for every node that has links, in pieces; `degree` is the node's number of links in all. */
  walk(visit: (node: number, targets: Uint32Array, degree: number) => void): Promise<void>;
}

export interface PageRankOptions {
  /** The chance that a reader follows a link instead of jumping anywhere; 0 to below 1, default 0.85. */
  readonly damping?: number | undefined;
  /** It is enough when the ranks change by less than this in a round, all changes added; default 1e-8. */
  readonly tolerance?: number | undefined;
  /** Default 200. */
  readonly maxRounds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRound?: ((round: number, change: number) => void) | undefined;
}

export interface PageRanks {
  /** By node; they sum to 1. */
  readonly ranks: Float64Array;
  readonly rounds: number;
  /** How much the last round changed. */
  readonly change: number;
  /** Whether that is below the tolerance. */
  readonly converged: boolean;
}

const DEFAULTS = { damping: 0.85, tolerance: 1e-8, maxRounds: 200 } as const;

/**
 * PageRank by repeated multiplication: a node hands its rank to the nodes that it links to in equal shares; one without
 * links hands it to all nodes. Memory is two numbers a node, whatever the number of links.
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
    let handed = 0;
    await graph.walk((node, targets, degree) => {
      const share = (ranks[node] ?? 0) / degree;
      for (let i = 0; i < targets.length; i++) next[targets[i]!]! += share;
      handed += share * targets.length;
    });
    // The rank of nodes without links, and that of random jumps, is distributed evenly.
    const base = (1 - damping + damping * Math.max(0, 1 - handed)) / size;
    change = 0;
    for (let node = 0; node < size; node++) {
      const rank = base + damping * next[node]!;
      change += Math.abs(rank - ranks[node]!);
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    rounds++;
    options.onRound?.(rounds, change);
  }
  return { ranks, rounds, change, converged: change < tolerance };
}
