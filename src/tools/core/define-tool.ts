/**
 * Declares a tool. Each argument is declared once, with its type and its description for the model;
 * the JSON Schema and the types of `run` follow from that.
 */
import { defined } from '../../domain/defined.js';
import type { ProblemCode } from '../../domain/problem.js';
import type { JsonSchema } from '../../ports/model.js';
import type { Tool, ToolContext, ToolReply } from './tool.js';

/** An argument of a tool; `run` gets a value of type `T`. */
interface Arg<T> {
  schema: JsonSchema;
  isRequired: boolean;
  /** Never set: it carries the type. */
  value?: T;
}

type Args = Record<string, Arg<unknown>>;
type Values<A extends Args> = { [Name in keyof A]: A[Name] extends Arg<infer T> ? T : never };

interface Declaration<A extends Args> extends Pick<Tool, 'name' | 'kind' | 'description' | 'outside' | 'isVolatile'> {
  args: A;
  run(args: Values<A>, context: ToolContext): Promise<ToolReply> | ToolReply;
}

export function defineTool<A extends Args>({ args, run, ...more }: Declaration<A>): Tool {
  return { ...more, parameters: schemaOf(args), run: (values, context) => run(values as Values<A>, context) };
}

export function toolProblem(code: ProblemCode, message: string): ToolReply {
  return { kind: 'problem', code, message };
}

export function text(description: string): Arg<string> {
  return arg({ type: 'string', description });
}

export function oneOf<const T extends string>(values: readonly T[], description: string): Arg<T> {
  return arg({ type: 'string', enum: [...values], description });
}

export function flag(description: string): Arg<boolean> {
  return arg({ type: 'boolean', description });
}

type Bounds = Pick<JsonSchema, 'minimum' | 'maximum'>;

export function integer(description: string, bounds: Bounds): Arg<number> {
  return arg({ type: 'integer', ...bounds, description });
}

export function number(description: string, bounds: Bounds): Arg<number> {
  return arg({ type: 'number', ...bounds, description });
}

export function texts(description: string): Arg<string[]> {
  return arg({ type: 'array', items: { type: 'string' }, description });
}

export function listOf<A extends Args>(items: A, description: string): Arg<Values<A>[]> {
  return arg({ type: 'array', description, items: schemaOf(items) });
}

/** An object with any keys. */
export function mapping(description: string): Arg<Record<string, unknown>> {
  return arg({ type: 'object', description, additionalProperties: true });
}

/** A text, or an object with any keys. Not every provider accepts a list of types. */
export function textOrMapping(description: string): Arg<string | Record<string, unknown>> {
  return arg({ type: 'string', alsoObject: true, description });
}

export function optional<T>({ schema }: Arg<T>): Arg<T | undefined> {
  return { schema, isRequired: false };
}

function arg<T>(schema: JsonSchema): Arg<T> {
  return { schema, isRequired: true };
}

function schemaOf(args: Args): JsonSchema {
  const properties = Object.fromEntries(Object.entries(args).map(([name, { schema }]) => [name, schema]));
  const required = Object.keys(args).filter((name) => args[name]!.isRequired);
  return defined({
    type: 'object',
    properties,
    required: required.length > 0 ? required : undefined,
    additionalProperties: false,
  });
}
