export { CookieJars, type CookieLimits } from './cookie-jars.js';
export { extraHeaders, headerProblem, refererOf } from './request-headers.js';
