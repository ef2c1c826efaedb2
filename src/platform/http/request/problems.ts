import type { z } from 'zod';
import type { FieldProblem, ValidationRule } from '../../errors/catalogue.ts';
import type { MessageValues } from '../../localisation/message-format.ts';
import type { Fields } from './forms.ts';
import { isInteger, type Schema, schemaAt } from './schemas.ts';

type Issue = z.core.$ZodIssue;
type Problem = Omit<FieldProblem, 'field'>;

/** One problem per invalid field: the first that zod reports. */
export function problems(error: z.ZodError, schema: Schema, fields: Fields): FieldProblem[] {
  const found = new Map<string, FieldProblem>();
  for (const issue of error.issues.flatMap(perKey)) {
    const field = issue.path.map(String).join('.') || 'body';
    if (!found.has(field)) found.set(field, { field, ...problemOf(issue, schema, fields) });
  }
  return [...found.values()];
}

function perKey(issue: Issue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [issue];
  return issue.keys.map((key) => ({ ...issue, path: [...issue.path, key] }));
}

function problemOf(issue: Issue, schema: Schema, fields: Fields): Problem {
  if (issue.code === 'custom') return customProblem(issue.params);
  if (valueAt(fields, issue.path) === undefined) return { rule: 'required' };
  switch (issue.code) {
    case 'invalid_type':
      return { rule: typeRule(issue, schema) };
    case 'invalid_format':
      return { rule: formatRules[issue.format] ?? 'pattern' };
    case 'too_small':
      return sizeProblem(issue.origin, 'min', issue.minimum);
    case 'too_big':
      return sizeProblem(issue.origin, 'max', issue.maximum);
    case 'invalid_value':
      return enumProblem(issue.values);
    case 'invalid_union':
      return unionProblem(issue);
    default:
      return { rule: 'invalid' };
  }
}

/** A refinement puts its rule into `params`, because zod does not know our messages. */
function customProblem(params: Record<string, unknown> | undefined): Problem {
  const { rule = 'invalid', values } = (params ?? {}) as { rule?: ValidationRule; values?: MessageValues };
  return values ? { rule, values } : { rule };
}

const typeRules: Record<string, ValidationRule> = {
  string: 'string',
  int: 'integer',
  number: 'number',
  boolean: 'boolean',
  array: 'array',
  tuple: 'array',
  set: 'array',
  object: 'object',
  record: 'object',
  map: 'object',
};

/** For text instead of an integer zod only reports "expected number". */
function typeRule({ expected, path }: z.core.$ZodIssueInvalidType, schema: Schema): ValidationRule {
  const target = expected === 'number' ? schemaAt(schema, path) : undefined;
  return target && isInteger(target) ? 'integer' : (typeRules[expected] ?? 'invalid');
}

const formatRules: Record<string, ValidationRule> = { email: 'email', url: 'url' };

const sizeKinds: Record<string, 'string' | 'number' | 'array'> = {
  string: 'string',
  number: 'number',
  int: 'number',
  bigint: 'number',
  array: 'array',
  set: 'array',
};

function sizeProblem(origin: string, end: 'min' | 'max', limit: number | bigint): Problem {
  const kind = sizeKinds[origin];
  return kind ? { rule: `${kind}_${end}`, values: { [end]: Number(limit) } } : { rule: 'invalid' };
}

const enumProblem = (values: readonly unknown[]): Problem => ({ rule: 'enum', values: { values: values.join(', ') } });

function unionProblem(issue: z.core.$ZodIssueInvalidUnion): Problem {
  // Zod's type lacks the options that it reports for an unknown discriminator.
  const { options } = issue as { options?: unknown[] };
  if (options) return enumProblem(options);
  const issues = issue.errors.flat();
  const values = issues.flatMap((one) => (one.code === 'invalid_value' && one.path.length === 0 ? [one.values] : []));
  return issues.length > 0 && values.length === issues.length ? enumProblem(values.flat()) : { rule: 'invalid' };
}

function valueAt(fields: Fields, path: readonly PropertyKey[]): unknown {
  let value: unknown = fields;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}
