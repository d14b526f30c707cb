/** `settings.yaml` in the user's configuration folder. */
import { SANDBOX_SETTINGS } from '../domain/config/config.js';
import { key } from './about.js';
import { choice, mapping } from './values.js';
import * as z from './zod.js';

const names = z.array(z.string({ error: 'a name' }), { error: 'a list of names' });

export const settingsYaml = z.strictObject(
  {
    keys: key(
      z.record(z.string(), names, mapping),
      'Hosts that a well-known key may also be sent to, besides the host that it belongs to.',
      { example: '{OPENAI_API_KEY: [gateway.example.com]}' },
    ),
    plugins: key(names, 'The only plugins that may run, in any workspace.', {
      default: 'those of each workspace that you trust',
      example: '[slack, web]',
    }),
    sandbox: key(choice([...SANDBOX_SETTINGS]), 'The weakest setting that a workspace may have.', {
      default: 'what each workspace says',
      example: 'required',
    }),
  },
  mapping,
);
