/** `notify` in `guild.yaml`: when and how a person learns that something waits or has ended. */
import { NOTICE_KINDS } from '../domain/config/notify.js';
import { key, named, needed } from './about.js';
import { timezone } from './schedule.js';
import { choice, duration, flag, mapping, text } from './values.js';
import * as z from './zod.js';

const hours = named(
  'hours',
  z
    .string({ error: 'two times, such as "22:00-07:00"' })
    .check(z.regex(/^([01]?\d|2[0-3]):[0-5]\d\s*-\s*([01]?\d|2[0-3]):[0-5]\d$/, 'two times, such as "22:00-07:00"')),
);
const address = named(
  'address',
  z.string({ error: 'an address, such as https://example.com/hook' }).check(z.regex(/^https?:\/\/\S+$/)),
);

export const notify = z.strictObject(
  {
    on: key(z.array(choice([...NOTICE_KINDS])), 'The kinds of events that you are notified of.', {
      default: '`[waits, failed, ended]`',
    }),
    gather: key(
      duration,
      'Things that happen within this time make one message. A request that you answer within it is left out.',
      {
        default: '`10s`',
      },
    ),
    quiet_hours: key(hours, 'Nothing is sent in these hours. Afterwards one message has everything.', {
      default: 'none',
      example: '"22:00-07:00"',
    }),
    timezone: key(timezone, 'The time zone of the quiet hours.', {
      default: "`timezone` of the file, else the machine's",
      example: 'Europe/Berlin',
    }),
    bell: key(flag, 'Ring the bell of the terminal.', { default: '`true`' }),
    desktop: key(flag, 'Show a notification on the desktop.', { default: '`false`' }),
    command: key(
      text,
      'A command for the shell, run in the workspace. It gets the message in `GUILD_TITLE`, `GUILD_TEXT` and as JSON.',
      {
        default: 'none',
        example: 'ntfy publish my-topic "$GUILD_TITLE"',
      },
    ),
    webhook: key(
      z.strictObject(
        {
          url: needed(address, 'Gets the message as JSON in a POST.', {
            example: 'https://example.com/hook',
            hint: 'add the "url"',
          }),
          secret_env: needed(text, 'The environment variable with the secret that signs it.', {
            example: 'HOOK_SECRET',
            hint: 'add "secret_env": the name of the variable with the secret',
          }),
        },
        mapping,
      ),
      'A signed message to a server.',
      { default: 'none', example: '{url: "https://example.com/hook", secret_env: HOOK_SECRET}' },
    ),
    slack: key(text, 'A person or channel on Slack, through the plugin `slack`.', {
      default: 'none',
      example: 'U012ABCDEFG',
    }),
  },
  mapping,
);
