// What S3 says when it refuses a request, as one sentence for a person.
import { StorageError } from '../../../protocols/errors.js';
import type { BucketAddress } from './bucket-address.js';
import { parseReply, textIn } from './reply-xml.js';

/** An error of S3, or no answer of it, as the user reads it. */
export interface BucketFailure extends StorageError {
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;
  /** S3's name of the error; empty if it gives no name. */
  readonly s3Code: string;
}

/** Returns an error with a sentence. */
export function bucketFailure(
  message: string,
  { isPassing = false, s3Code = '', cause }: { isPassing?: boolean; s3Code?: string; cause?: unknown } = {},
): BucketFailure {
  const options = cause === undefined ? {} : { cause };
  return Object.assign(new StorageError(message, options), { isPassing, s3Code });
}

/** S3's name of the error that a refused request has; empty if another one has failed. */
export function s3CodeOf(error: unknown): string {
  return error instanceof StorageError ? String(Reflect.get(error, 's3Code') ?? '') : '';
}

/** The reply that is a refusal. */
export interface RefusedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Characters of the server's own words that are shown. */
const MAX_REASON = 200;
const PASSING =
  /^(?:SlowDown|SlowDownRead|SlowDownWrite|RequestTimeout|InternalError|ServiceUnavailable|TooManyRequests|ThrottlingException|OperationAborted|ConditionalRequestConflict)$/;
const FULL = /^(?:XMinioStorageFull|InsufficientStorage|QuotaExceeded|StorageFull|.*QuotaExceeded.*)$/;
const WRONG_LOGIN = /^(?:ExpiredToken|InvalidToken|TokenRefreshRequired)$/;

/**
 * A refusal as an error with a sentence.
 *
 * @param what the request, such as `GET generations/manifests`
 * @param sentAt the time by which the request was signed, milliseconds since 1970
 */
export function refusalOf(
  reply: RefusedReply,
  address: BucketAddress,
  what: string,
  sentAt: number,
): BucketFailure {
  const { status, headers, body } = reply;
  const xml = parseReply(body);
  const s3Code = xml?.name === 'Error' ? (textIn(xml, 'Code') ?? '') : '';
  const { bucket, endpoint, region } = address;
  const fail = (message: string, isPassing = false): BucketFailure =>
    bucketFailure(message, { isPassing, s3Code });

  if (s3Code === 'NoSuchBucket') return fail(`there is no bucket ${bucket} at ${endpoint}`);
  if (s3Code === 'RequestTimeTooSkewed') {
    const apart = secondsApart(headers.date, sentAt);
    const by = apart === undefined ? '' : ` by ${apart} seconds`;
    return fail(`the clock of this machine differs from that of ${endpoint}${by}: set it`);
  }
  if (s3Code === 'InvalidAccessKeyId')
    return fail(`${endpoint} does not know the access key (AWS_ACCESS_KEY_ID)`);
  if (s3Code === 'SignatureDoesNotMatch')
    return fail(`${endpoint} refuses the login: the secret key (AWS_SECRET_ACCESS_KEY) is wrong`);
  if (WRONG_LOGIN.test(s3Code)) return fail(`${endpoint} refuses the login: its session has expired`);
  const otherRegion = regionOf(headers['x-amz-bucket-region']) ?? regionOf(textIn(xml, 'Region'));
  if (
    (status === 301 || status === 307 || status === 400) &&
    otherRegion !== undefined &&
    otherRegion !== region
  )
    return fail(`the bucket ${bucket} is in the region ${otherRegion}, not in ${region}: set AWS_REGION`);
  if (status === 507 || FULL.test(s3Code))
    return fail(`${endpoint} has no room for more (${s3Code || status})`);
  if (status === 403 || status === 401)
    return fail(`${endpoint} does not permit ${what} in the bucket ${bucket} (${s3Code || status})`);
  if ((status >= 500 && status !== 501) || status === 429 || status === 408 || PASSING.test(s3Code))
    return fail(`${endpoint} cannot answer at present (${s3Code || status})`, true);
  if (status >= 300 && status < 400)
    return fail(`${endpoint} sends ${what} elsewhere (${status}): the endpoint or the region is wrong`);
  // A refused HEAD has no body.
  if (s3Code === '' && what.startsWith('HEAD')) return fail(`${endpoint} answers ${what} with ${status}`);
  if (s3Code === '') return fail(`${endpoint} is not a server of S3: it answers ${what} with ${status}`);
  const reason = (textIn(xml, 'Message') ?? '').slice(0, MAX_REASON);
  return fail(`${endpoint} answers ${what} with ${s3Code}: ${reason}`);
}

function regionOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[a-z0-9-]+$/.test(value) ? value : undefined;
}

function secondsApart(date: string | string[] | undefined, sentAt: number): number | undefined {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(theirs) ? undefined : Math.round(Math.abs(theirs - sentAt) / 1000);
}
