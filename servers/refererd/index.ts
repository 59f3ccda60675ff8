export type { HostNames } from '../web/own-host.js';
export { AllowedHosts, type AllowedHostsOptions } from './allowed-hosts.js';
export { MAX_RESULTS, type Pager } from './answers.js';
export {
  type ListsConfig,
  type LoadedLists,
  type LoadListsOptions,
  loadCommonLists,
  type UnreadableList,
} from './common-lists.js';
export type { ConfigurationSource } from './configuration.js';
export { type DatabaseNames, type PreparedData, prepareData } from './data-directory.js';
export { type Fault, type MailRelay, reportFault } from './fault-report.js';
export { monitoredRefererd } from './figures.js';
export { HostnamePattern, parseHostnamePatterns } from './hostname-patterns.js';
export { LEVEL } from './level.js';
export {
  FileLog,
  type FileLogOptions,
  logLines,
  logTo,
  type PeerLogs,
  type RefererLog,
} from './log.js';
export { type RefererProcessOptions, runRefererProcess } from './process.js';
export { RefererServer, type RefererServerOptions } from './server.js';
export {
  type CommonLists,
  NO_LISTS,
  RefererService,
  type RefererServiceOptions,
  type RefererSettings,
} from './service.js';
export { type Mail, sendMail } from './smtp.js';
export { type RunningRefererd, type StartRefererdOptions, startRefererd } from './start.js';
export { type Counter, type ListSource, Statistics, type StatisticsContext } from './statistics.js';
export { type SupervisorOptions, superviseRefererd } from './supervisor.js';
export {
  type CheckGuard,
  type CheckResult,
  checkUserName,
  UserBase,
  userLine,
  withUser,
} from './user-base.js';
