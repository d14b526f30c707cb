/** `storage/policy.yaml`: rules about tools, in categories that people name. */
import { RISKS, SAFETY_CHECKS, SUPERVISIONS } from '../domain/policy.js';
import { key, named, needed, rule } from './about.js';
import { at, choice, flag, mapping, names, number, text, whole } from './values.js';
import * as z from './zod.js';

const error = 'at least one text';
const filled = z.string({ error }).check(z.regex(/\S/));
const patterns = named(
  'text or list of text',
  z.union([filled, z.array(filled, { error }).check(z.minLength(1))], { error }),
);

const condition = z
  .strictObject(
    {
      path_matches: key(patterns, 'The path of the call matches one of these globs.', { example: '["config/*"]' }),
      command_matches: key(patterns, 'The command line matches one of these globs.', { example: '["npm *"]' }),
      command_starts_with: key(patterns, 'The command line begins with one of these texts.', {
        example: '[npm test]',
      }),
    },
    { error: 'one condition with its values' },
  )
  .check(
    rule((condition) => Object.keys(condition).length === 1, 'an item of "conditions" needs exactly one condition'),
  );

const restriction = z
  .strictObject(
    {
      type: needed(choice(['size_limit', 'path_pattern']), 'The kind of the restriction.', { example: 'size_limit' }),
      max_bytes: key(whole(), 'For `size_limit`: the largest content that may be written.', { example: '1000000' }),
      allow: key(names, 'For `path_pattern`: globs that the path must match.', { example: '["notes/*"]' }),
      deny: key(names, 'For `path_pattern`: globs that the path must not match.', { example: '["*.env"]' }),
    },
    mapping,
  )
  .check(
    rule(
      ({ type, max_bytes }) => (type === 'size_limit') === (max_bytes !== undefined),
      'a size_limit needs "max_bytes", and no other type may have it',
    ),
    rule(
      ({ type, allow, deny }) => type === 'path_pattern' || (allow ?? deny) === undefined,
      'only a path_pattern has "allow" and "deny"',
    ),
  );

const list = { error: 'a list' };

const policyRule = z.strictObject(
  {
    pattern: needed(text, 'A glob on the name of the tool.', { example: '"write_*"' }),
    enabled: key(flag, 'Whether the rule is in force.', { default: '`true`' }),
    description: key(text, 'A note for people.', { example: 'Configuration is changed with care' }),
    conditions: key(z.array(condition, list), 'The rule applies only if all of these hold.', {
      default: 'the rule always applies',
      example: '[{path_matches: ["config/*"]}]',
    }),
    supervision: key(
      choice(SUPERVISIONS),
      'How the call is handled: it runs, it runs and you are notified, you are asked (`confirm`, `manual`), or it never runs.',
      { default: '`confirm`' },
    ),
    risk: key(choice(RISKS), 'How dangerous the call is. The approval shows it.', { default: '`medium`' }),
    safety_checks: key(
      z.array(choice(SAFETY_CHECKS), list),
      'Checks before the call. The program makes `disk_space` and `permission` for files that are written. ' +
        'For the other checks it asks you.',
      { default: 'none', example: '[disk_space]' },
    ),
    restrictions: key(
      z.array(restriction, list),
      'Limits on the content and the path. A call outside of them is refused.',
      {
        default: 'none',
        example: '[{type: size_limit, max_bytes: 1000000}]',
      },
    ),
    priority: key(number(-1_000_000, 1_000_000), 'If several rules apply, the highest priority wins.', at(0)),
  },
  mapping,
);
export type PolicyRuleFile = z.infer<typeof policyRule>;

export const policyYaml = z.record(z.string(), z.record(z.string(), policyRule, mapping), mapping);
