import { Option } from 'commander';

/** `--store URL`; `Store-URL` of a configuration is the same. */
export function storeOption(description: string): Option {
  return new Option('--store <url>', `${description}: postgres://USER@HOST/DATABASE`);
}

/** `--publish PLACE`; `Publish` of a configuration is the same. */
export function publishOption(): Option {
  return new Option(
    '--publish <place>',
    'also publish to s3://BUCKET/PREFIX or a directory, for servers on other machines',
  );
}
