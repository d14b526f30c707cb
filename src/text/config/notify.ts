/** `notify` of `guild.yaml`. */
import { NOTICE_KINDS, type NotifyChannels, type NotifyRules } from '../../domain/config/notify.js';
import { defined } from '../../domain/defined.js';
import { durationMs } from '../../schemas/amounts.js';
import type { GuildYaml } from '../../schemas/guild-yaml.js';
import { textOf } from '../schema/values.js';

type File = NonNullable<GuildYaml['notify']>;

export function toNotify(file: File, zone: string | undefined): NotifyRules {
  const quiet = /^(\d+):(\d+)\s*-\s*(\d+):(\d+)$/
    .exec(file.quiet_hours ?? '')
    ?.slice(1)
    .map(Number);
  return defined<NotifyRules>({
    on: file.on ?? [...NOTICE_KINDS],
    gatherMs: durationMs(file.gather) ?? 10_000,
    quiet:
      quiet === undefined
        ? undefined
        : defined({
            from: quiet[0]! * 60 + quiet[1]!,
            to: quiet[2]! * 60 + quiet[3]!,
            timezone: file.timezone ?? zone,
          }),
    bell: file.bell ?? true,
    desktop: file.desktop ?? false,
  });
}

export function toNotifyChannels(file: File | undefined): NotifyChannels {
  const { webhook } = file ?? {};
  const slack = textOf(file?.slack);
  return defined<NotifyChannels>({
    command: textOf(file?.command),
    webhook: webhook === undefined ? undefined : { url: webhook.url, secretEnv: textOf(webhook.secret_env)! },
    plugin: slack === undefined ? undefined : { name: 'slack', to: slack },
  });
}
