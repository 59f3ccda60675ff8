export type { Address } from '../web/application.js';
export type { ConnectionGuardOptions } from '../web/connections.js';
export type { PasswordThrottle } from '../web/password-throttle.js';
export type { CurrentConfig, CurrentConfigOptions } from './admin/current-config.js';
export { EventLog, type EventLogOptions, LOG_TYPES, type LogType } from './admin/event-log.js';
export type { IndexKeeper, IndexKeeperOptions } from './admin/index-keeper.js';
export type { IndexLead, IndexLeadOptions } from './admin/index-lead.js';
export type { JobOutcome, Jobs } from './admin/jobs.js';
export type { AddReport, Maintenance } from './admin/maintenance.js';
export type { BrokerParts } from './admin/parts.js';
export { isDueForRefresh, type RefreshMarks } from './admin/refresh-marks.js';
export type { RequestLog } from './admin/request-log.js';
export type { BrokerStatistics, Count } from './admin/statistics.js';
export type { StoreDamage, StoreDamageContext } from './admin/store-damage.js';
export type { TimedEvent, Timetable, TimetableRow } from './admin/timetable.js';
export type { WalkCache, WalkedStore } from './admin/walk-cache.js';
export {
  type AdminOptions,
  type AdminRequest,
  administer,
  executeAdmin,
  passwordMatches,
} from './admin-commands.js';
export { Broker } from './broker.js';
export type { ReadConfiguration } from './broker-files.js';
export { brokerPidFile, readBrokerConf } from './broker-files.js';
export type { BrokerOptions } from './broker-parts.js';
export type { DigestCache } from './bulk/digest.js';
export type { BrokerDescription } from './bulk/object-list.js';
export type { BulkPage } from './bulk/ready-objects.js';
export type { BulkParts, BulkRefusal, BulkTransfer, BulkTransfers } from './bulk/transfer.js';
export type { CollectionContext, CollectionReport } from './collect/collection.js';
export type { CollectionRunner, StartMode } from './collect/collection-runner.js';
export { pointKey } from './collect/collector.js';
export type { CollectLimits } from './collect/context.js';
export { type CollectEvent, collectChannel, type PointReport } from './collect/report.js';
export { type BrokerProgramOptions, runBroker } from './daemon.js';
export { monitoredBroker } from './figures.js';
export type { Endpoint, LocalCallers } from './query/local-callers.js';
export { brokerPath, objectPath, oidOfPath } from './query/object-path.js';
export type { PageItem } from './query/page-items.js';
export type { PublishedUrls } from './query/published-urls.js';
export type { QueryParts, QueryService } from './query/query-service.js';
export type { QuerySlot, QuerySlotOptions, QuerySlots, SlotRequest } from './query/query-slots.js';
export type { PageBudget, ReplyMemory, ReplyMemoryOptions, ReplyOwner } from './query/reply-memory.js';
export type { Caller, RequestContext, SharedResources } from './query/request-context.js';
export type { SearchParts, SearchSummary } from './query/search.js';
export type { RunBrokerOptions } from './script.js';
export { writeRunBroker } from './script.js';
export {
  type BrokerCounts,
  BrokerServer,
  type BrokerServerOptions,
  portLimits,
  type QueryEnd,
} from './server.js';
export type { FacetLimits } from './web/facets.js';
export type { Gathering } from './web/gathering.js';
export type { RouteContext } from './web/route-context.js';
export {
  type BrokerPagesOptions,
  brokerPages,
  createWebApp,
  pageLimits,
  type WebAppOptions,
  WebServer,
  type WebServerOptions,
} from './web/server.js';
export { type StatsFileOptions, statsFile } from './web/stats-file.js';
