import { readFile } from 'node:fs/promises';
import {
  type Environment,
  filePaths,
  type GathererConfig,
  parseSecrets,
} from '../../../protocols/config/index.js';
import { ConfigError, errorCode, messageOf } from '../../../protocols/errors.js';
import { passwordFileWarning } from '../../host/index.js';

/**
 * Returns the configuration with the logins of its Secrets-File after its own (G-25, G-19: the first match is
 * used). The file is searched for in Top-Directory, then in the current directory (G-20). A file that other
 * users can read causes a warning.
 * @throws ConfigError if the file is missing or wrong; the message names file, line and variable, never a value
 */
export async function withSecrets(
  config: GathererConfig,
  env: Environment = {},
): Promise<{ config: GathererConfig; warnings: readonly ConfigError[] }> {
  const name = config.secretsFile;
  if (name === undefined) return { config, warnings: [] };
  for (const file of filePaths(config, name)) {
    const text = await readIfExists(file);
    if (text === undefined) continue;
    const { secrets, warnings } = parseSecrets(text, file, env);
    const readable = passwordFileWarning(file, 'Secrets-File');
    return {
      config: {
        ...config,
        httpBasicAuth: [...config.httpBasicAuth, ...secrets.httpBasicAuth],
        ftpAuth: [...config.ftpAuth, ...secrets.ftpAuth],
      },
      warnings: [...warnings, ...(readable === undefined ? [] : [readable])],
    };
  }
  throw new ConfigError(name, 0, 'Secrets-File', 'there is no such file');
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new ConfigError(file, 0, 'Secrets-File', `cannot be read: ${messageOf(error)}`);
  }
}
