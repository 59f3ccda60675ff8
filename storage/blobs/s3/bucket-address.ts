// Where a bucket is: its URL, the variables of the environment and the profile of the AWS tools.
import { StorageError } from '../../../protocols/errors.js';
import { isKey } from '../contract.js';
import type { AwsProfile, Environment } from './aws-profile.js';

/** Where the blobs of a place are. */
export interface BucketAddress {
  readonly bucket: string;
  /** Of all keys, with `/` at its end; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** The URL of the bucket, without `/` at its end. */
  readonly url: URL;
  /** What a message calls the place: no login, no query. */
  readonly name: string;
  /** What a message calls the server. */
  readonly endpoint: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const DEFAULT_REGION = 'us-east-1';
const PARAMETERS = new Set(['endpoint', 'region', 'style']);

/**
 * Reads `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&style=path|host]`. A parameter has precedence over a variable,
 * and a variable over the profile. With an endpoint of its own the bucket is a part of the path, else of the host name.
 *
 * @throws StorageError if the URL cannot be understood; a login in it is not repeated
 */
export function readBucketAddress(place: string, env: Environment, profile: AwsProfile): BucketAddress {
  const refuse = (why: string): never => {
    throw new StorageError(`${withoutLogin(place)}: ${why}`);
  };
  const parsed = /^s3:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(place);
  const [, bucket = '', path = '', query = ''] = parsed ?? refuse('must be s3://BUCKET/PREFIX');
  if (bucket.includes('@')) refuse('a login belongs into the environment or ~/.aws/credentials');
  if (!BUCKET.test(bucket))
    refuse('the name of a bucket has 3 to 63 lower-case letters, digits, "-" and "."');
  const prefix = path.replace(/\/+$/, '');
  if (prefix !== '' && !isKey(prefix))
    refuse('a prefix has letters, digits, ".", "_", "-", joined by single "/"');
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys())
    if (!PARAMETERS.has(name)) refuse(`${name} is not a parameter (endpoint, region, style)`);
  const region =
    parameters.get('region') ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? profile.region ?? DEFAULT_REGION;
  if (!/^[A-Za-z0-9-]+$/.test(region)) refuse('region is not the name of a region');
  const own =
    parameters.get('endpoint') ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL ?? profile.endpoint;
  const style = parameters.get('style') ?? profile.style;
  if (!(style === undefined || style === 'path' || style === 'host')) refuse('style is "path" or "host"');
  const server =
    parseEndpoint(own ?? `https://s3.${region}.amazonaws.com`) ?? refuse('endpoint is not a URL');
  const url = new URL(server);
  // A certificate for *.s3.REGION.amazonaws.com does not cover a name with more dots.
  const isInPath = style === 'path' || (style === undefined && (own !== undefined || bucket.includes('.')));
  if (isInPath) url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`;
  else url.hostname = `${bucket}.${url.hostname}`;
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    url,
    name: `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`,
    endpoint: server.origin,
  };
}

function parseEndpoint(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return /^https?:$/.test(url.protocol) && isPlain ? url : undefined;
}

/** The place without anything that may be a secret. */
function withoutLogin(place: string): string {
  return place.replace(/[?#].*$/s, '').replace(/^(s3:\/\/)[^/]*@/i, '$1');
}
