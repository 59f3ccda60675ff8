export { type OrderProblem, orderProblems } from './check-order.js';
export { defaultOrderText, describeSettings, type SettingDescription, settingsTable } from './describe.js';
export {
  type CrawlOrderConfig,
  type CrawlOrderInput,
  crawlOrderSchema,
  type SheetConfig,
} from './order.js';
export {
  type HostSettings,
  hostOfSettingsFile,
  type OrderFromXml,
  type OrderWarning,
  readOrderXml,
} from './order-xml.js';
export { readOrder } from './read-order.js';
export {
  type CrawlSettings,
  type CrawlSettingsInput,
  crawlSettingsSchema,
  type SettingsOverrides,
} from './settings.js';
export { type AppliedSheet, SheetOverlays } from './sheets.js';
