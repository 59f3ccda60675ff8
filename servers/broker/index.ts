export { passwordMatches } from './admin.js';
export { Broker, type BrokerOptions, type CollectionReport, type StartMode } from './broker.js';
export {
  type CollectEvent,
  type CollectLimits,
  collectChannel,
  type PointReport,
  pointKey,
} from './collector.js';
export { brokerPath, objectPath, oidOfPath } from './object-path.js';
export { type SearchContext, type SearchSummary, search, wantsLines } from './search.js';
export {
  BrokerServer,
  type BrokerServerOptions,
  type QueryEvent,
  queryChannel,
  type ServedBroker,
} from './server.js';
export type { BrokerStatistics, Count } from './statistics.js';
export { createWebApp, type WebAppOptions, WebServer, type WebServerOptions } from './web/server.js';
