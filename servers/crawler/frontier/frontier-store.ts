import type { GathererStore, PartitionStore } from '../../../storage/index.js';

/** What a frontier needs of a store: a Gatherer's, or a partition of one that several processes share. */
export type FrontierStore = Pick<
  GathererStore & PartitionStore,
  'batch' | 'queues' | 'waiting' | 'queueRecords' | 'inactiveQueues' | 'frontierState' | 'flush'
>;
