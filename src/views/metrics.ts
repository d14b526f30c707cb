/**
 * Figures of a process in the text format of Prometheus. They contain only counts and the names of
 * agents and models, never the text of a task.
 */
import { callCost, type Event } from '../domain/event.js';

/** Counts since the process started. */
interface Counters {
  count(event: Event): void;
  lines(): string[];
}

/** Values of this moment. */
export interface Gauges {
  pending: number;
  active: number;
  waiting: number;
  /** Requests and questions that wait for a person. */
  requests: number;
  processes: number;
  /** The longest time that a change waited to be written. */
  worstLagMs: number;
}

interface Family {
  help: string;
  type: 'counter' | 'gauge';
  values: Map<string, number>;
}

export function counters(): Counters {
  const families = new Map<string, Family>();
  const add = (name: string, help: string, labels: Record<string, string>, by = 1): void => {
    const family = families.get(name) ?? { help, type: 'counter', values: new Map<string, number>() };
    families.set(name, family);
    const key = labelText(labels);
    family.values.set(key, (family.values.get(key) ?? 0) + by);
  };
  return {
    count(event) {
      const agent = event.agent ?? '';
      if (event.name === 'task.completed' || event.name === 'task.failed')
        add('guild_tasks_ended_total', 'Tasks that this process ended.', { state: event.name.slice('task.'.length) });
      if (event.name === 'tool.ran') add('guild_tool_calls_total', 'Tool calls.', { agent });
      if (event.name === 'model.failed') add('guild_model_failures_total', 'Model calls that failed.', { agent });
      if (event.name !== 'model.answered') return;
      const { inputTokens, outputTokens, microUsd, ms } = callCost(event);
      const model = typeof event['model'] === 'string' ? event['model'] : '';
      add('guild_model_calls_total', 'Model calls that were answered.', { agent, model });
      add('guild_model_seconds_total', 'Time spent waiting for models.', { agent, model }, ms / 1000);
      add('guild_tokens_total', 'Tokens.', { agent, model, kind: 'input' }, inputTokens);
      add('guild_tokens_total', 'Tokens.', { agent, model, kind: 'output' }, outputTokens);
      add('guild_cost_dollars_total', 'Cost of model calls with a known price.', { agent, model }, microUsd / 1e6);
    },
    lines: () => [...families].flatMap(([name, family]) => familyLines(name, family)),
  };
}

export function metricsText(gauges: Gauges, counted: Counters): string {
  const { pending, active, waiting, requests, processes, worstLagMs } = gauges;
  const gauge = (name: string, help: string, values: Record<string, number>, label = ''): string[] =>
    familyLines(name, {
      help,
      type: 'gauge',
      values: new Map(
        Object.entries(values).map(([value, n]) => [label === '' ? '' : labelText({ [label]: value }), n]),
      ),
    });
  return `${[
    ...gauge('guild_tasks_open', 'Open tasks of the workspace.', { pending, active, waiting }, 'state'),
    ...gauge('guild_requests_waiting', 'Requests and questions that wait for a person.', { '': requests }),
    ...gauge('guild_processes', 'Live processes of the workspace, with this one.', { '': processes }),
    ...gauge('guild_store_worst_lag_seconds', 'The longest time that a change waited to be written.', {
      '': worstLagMs / 1000,
    }),
    ...counted.lines(),
  ].join('\n')}\n`;
}

function familyLines(name: string, { help, type, values }: Family): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...[...values].map(([labels, value]) => `${name}${labels} ${value}`),
  ];
}

function labelText(labels: Record<string, string>): string {
  const escaped = (text: string): string =>
    text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`;
}
