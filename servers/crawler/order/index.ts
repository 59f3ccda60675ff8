export { chainSteps } from './chain-config.js';
export { ignoredSettings, orderProblems } from './check-order.js';
export { defaultOrderText, describeSettings, settingsTable } from './describe.js';
export { type CrawlOrderConfig, type CrawlOrderInput, crawlOrderSchema } from './order.js';
export { hostOfSettingsFile, readOrderXml } from './order-xml.js';
export { readOrder } from './read-order.js';
export { readOrderText } from './read-order-file.js';
export { type CrawlSettings, crawlSettingsSchema } from './settings.js';
export { type AppliedSheet, SheetOverlays } from './sheets.js';
