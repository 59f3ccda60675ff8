// The login, region and endpoint of the AWS tools: variables of the environment, else a profile in two files.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../../protocols/errors.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of a profile. */
export interface AwsProfile {
  readonly login?: AwsLogin | undefined;
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly style?: string | undefined;
}

/** It is in no message and in no log. */
export interface AwsLogin {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

type Settings = Readonly<Record<string, string>>;

/**
 * Reads the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, and the profile
 * `AWS_PROFILE` (default `default`) of `AWS_SHARED_CREDENTIALS_FILE` (`~/.aws/credentials`) and `AWS_CONFIG_FILE`
 * (`~/.aws/config`). Programs and services that give logins are not asked.
 *
 * @throws StorageError if a file cannot be read, or lacks the profile that the environment names
 */
export async function readAwsProfile(env: Environment = process.env): Promise<AwsProfile> {
  const name = env.AWS_PROFILE ?? 'default';
  const home = env.HOME ?? homedir();
  const secrets = await readSections(env.AWS_SHARED_CREDENTIALS_FILE ?? join(home, '.aws', 'credentials'));
  const config = await readSections(env.AWS_CONFIG_FILE ?? join(home, '.aws', 'config'));
  const found = [
    config.get(name === 'default' ? 'default' : `profile ${name}`) ?? config.get(`profile ${name}`),
    secrets.get(name),
  ].filter((section) => section !== undefined);
  if (found.length === 0 && env.AWS_PROFILE !== undefined)
    throw new StorageError(`AWS_PROFILE: there is no profile ${name} in the files of the AWS tools`);
  const settings: Settings = Object.assign({}, ...found);
  return {
    login:
      loginOf(env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY, env.AWS_SESSION_TOKEN) ??
      loginOf(settings.aws_access_key_id, settings.aws_secret_access_key, settings.aws_session_token),
    region: settings.region,
    endpoint: settings.endpoint_url,
    style: styleOf(settings['s3.addressing_style']),
  };
}

function loginOf(
  accessKeyId: string | undefined,
  secretAccessKey: string | undefined,
  sessionToken: string | undefined,
): AwsLogin | undefined {
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken };
}

function styleOf(setting: string | undefined): 'path' | 'host' | undefined {
  if (setting === 'path') return 'path';
  return setting === 'virtual' ? 'host' : undefined;
}

/** The sections of a file; settings below a setting have its name before theirs: `s3.addressing_style`. */
async function readSections(path: string): Promise<ReadonlyMap<string, Settings>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return new Map();
    throw new StorageError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const sections = new Map<string, Record<string, string>>();
  let section: Record<string, string> = {};
  let parent = '';
  for (const line of text.split(/\r?\n/)) {
    const header = /^\[\s*(.*?)\s*\]/.exec(line)?.[1];
    const [, indent = '', key = '', value = ''] = /^(\s*)([^=#;\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (header !== undefined) {
      section = sections.get(header.replace(/\s+/g, ' ')) ?? {};
      sections.set(header.replace(/\s+/g, ' '), section);
      parent = '';
    } else if (key !== '' && indent === '') {
      section[key] = value;
      parent = value === '' ? key : '';
    } else if (key !== '' && parent !== '') section[`${parent}.${key}`] = value;
  }
  return sections;
}
