// The logins that an order of the crawl engine adds to a configuration, with the passwords of the environment.
import type { HttpBasicAuth } from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { LoginForm } from '../../crawler/processors/parts.js';

/**
 * Returns the logins by realm of an order (G-82). @param file of the order, for errors @throws ConfigError if
 * the environment lacks a password
 */
export function basicLogins(
  { credentials }: Pick<CrawlOrderConfig, 'credentials'>,
  file: string,
): HttpBasicAuth[] {
  return credentials.flatMap((credential, i) => {
    if (credential.kind !== 'basic') return [];
    const { url, realm, user, passwordEnvironment } = credential;
    const password = variable(passwordEnvironment, file, i);
    return { url: canonicalOf(url, file, i), realm, user, password };
  });
}

/** Returns the forms of an order with their secret values. @throws ConfigError as {@link basicLogins} */
export function loginForms(
  { credentials }: Pick<CrawlOrderConfig, 'credentials'>,
  file: string,
): LoginForm[] {
  return credentials.flatMap((credential, i) => {
    if (credential.kind !== 'form') return [];
    const { method, fields, fieldsFromEnvironment } = credential;
    const loginUrl = canonicalOf(credential.loginUrl, file, i);
    const secrets = Object.entries(fieldsFromEnvironment).map(([name, from]) => [
      name,
      variable(from, file, i),
    ]);
    return {
      loginUrl,
      method,
      url: canonicalOf(credential.url ?? new URL('/', loginUrl).href, file, i),
      fields: { ...fields, ...Object.fromEntries(secrets) },
      secrets: secrets.map(([, value = '']) => value),
    };
  });
}

function canonicalOf(url: string, file: string, index: number): string {
  const canonical = canonicalUrl(url);
  if (canonical === undefined) throw new ConfigError(file, 0, `credentials[${index}]`, `not a URL: ${url}`);
  return canonical;
}

function variable(name: string, file: string, index: number): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new ConfigError(file, 0, `credentials[${index}]`, `the environment has no ${name}`);
  return value;
}
