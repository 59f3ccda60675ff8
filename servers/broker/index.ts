export {
  type AdministeredBroker,
  type AdminOptions,
  type AdminRequest,
  administer,
  executeAdmin,
  passwordMatches,
} from './admin.js';
export { Broker, type StartMode } from './broker.js';
export type { BrokerOptions } from './broker-parts.js';
export type { CollectLimits } from './collect-context.js';
export { type CollectEvent, collectChannel, type PointReport } from './collect-report.js';
export type { CollectionReport } from './collection.js';
export { pointKey } from './collector.js';
export { type BrokerProgramOptions, brokerPidFile, readBrokerConf, runBroker } from './daemon.js';
export { EventLog, type EventLogOptions, LOG_TYPES, type LogType } from './event-log.js';
export { brokerPath, objectPath, oidOfPath } from './object-path.js';
export { isDueForRefresh, type RefreshMarks } from './refresh-marks.js';
export { writeRunBroker } from './script.js';
export { type SearchContext, type SearchSummary, search } from './search.js';
export {
  BrokerServer,
  type BrokerServerOptions,
  portLimits,
  type ServedBroker,
} from './server.js';
export type { BrokerStatistics, Count } from './statistics.js';
export type { TimetableRow } from './timetable.js';
export {
  createWebApp,
  pageLimits,
  type WebAppOptions,
  WebServer,
  type WebServerOptions,
} from './web/server.js';
export { type StatsFileOptions, statsFile } from './web/stats-file.js';
