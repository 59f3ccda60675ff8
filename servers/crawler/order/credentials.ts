// The logins of an order (CRAWL-12.4): by realm (G-82) and by HTML form. Passwords are in the environment,
// never in an order.
import { z } from 'zod';
import { withNote } from './setting-notes.js';

/** Name of a variable of the environment. */
const variable = z.string().regex(/^[A-Za-z_]\w*$/);
const httpUrl = z.string().regex(/^https?:\/\/[^/?#@\s]+(?:\/[^#\s]*)?$/);

/** A login for a realm, for the documents below a URL. */
const basicSchema = z.strictObject({
  kind: z.literal('basic'),
  url: httpUrl,
  realm: z.string(),
  user: z.string(),
  passwordEnvironment: variable,
});

/** A form that is sent once before the documents below a URL are fetched; its cookies are the login. */
const formSchema = z.strictObject({
  kind: z.literal('form'),
  /** The action of the form. */
  loginUrl: httpUrl,
  method: z.enum(['post', 'get']).default('post'),
  /** Absent: the documents of the form's server. */
  url: httpUrl.optional(),
  /** Fields and their values. */
  fields: z.record(z.string(), z.string()).default({}),
  /** Fields whose values are in variables of the environment. */
  fieldsFromEnvironment: z.record(z.string(), variable).default({}),
});

export const credentialsSchema = withNote(
  z.array(z.discriminatedUnion('kind', [basicSchema, formSchema])).default([]),
  'CRAWL-12.4, G-82',
  'Logins: { "kind": "basic", "url": "https://h/area/", "realm": "R", "user": "u", "passwordEnvironment": "PASSWORD" } or { "kind": "form", "loginUrl": "https://h/login", "fields": { "user": "u" }, "fieldsFromEnvironment": { "password": "PASSWORD" } }',
);

export type FormCredential = z.output<typeof formSchema>;
