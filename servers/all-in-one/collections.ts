// Adds the reports of the collections of one round.
import { addCounts, NO_COUNTS } from '../../storage/index.js';
import type { CollectionReport } from '../broker/index.js';

/** The report of a round that has not collected yet. */
export function noCollection(): CollectionReport {
  return { points: [], totals: NO_COUNTS, received: 0, expired: 0, milliseconds: 0 };
}

/**
 * Adds a later report to an earlier one. The points, and whether they are complete, are those of the later. It
 * repeats the objects of the last second of the earlier one (GATHERD-13.6), which count once.
 */
export function addCollections(earlier: CollectionReport, later: CollectionReport): CollectionReport {
  const isFirst = earlier.points.length === 0;
  const repeated = isFirst ? 0 : later.totals.duplicates;
  const totals = { ...later.totals, duplicates: later.totals.duplicates - repeated };
  return {
    points: later.points,
    totals: addCounts(earlier.totals, totals),
    received: earlier.received + later.received - repeated,
    expired: earlier.expired + later.expired,
    milliseconds: earlier.milliseconds + later.milliseconds,
  };
}
