export { CookieJars, type CookieLimits } from './cookie-jars.js';
export { proxyOf, proxyProblem } from './proxy-setting.js';
export { extraHeaders, headerProblem, refererOf } from './request-headers.js';
