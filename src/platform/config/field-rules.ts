import { createPrivateKey } from 'node:crypto';
import { ApiError } from '../errors/catalogue.ts';

/** What a setting of a platform or store has to be. */
export interface FieldRules {
  readonly secret?: true;
  readonly list?: true;
  readonly optional?: true;
  readonly fits?: (value: string) => boolean;
}

export type RulesByField = Readonly<Record<string, FieldRules>>;
export type Values = Record<string, string | readonly string[]>;
type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;

export const DIGITS = (value: string): boolean => /^\d{1,20}$/.test(value);
export const WEB_ADDRESS = (value: string): boolean => /^https?:$/.test(URL.parse(value)?.protocol ?? '');

export function isKeyOf(type: 'ec' | 'rsa', pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === type;
  } catch {
    return false;
  }
}

/** Omitted fields keep their values; empty ones are removed. */
export function mergeValues(before: Values | undefined, changes: Changes): Values {
  const set = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined && value.length > 0);
  return Object.fromEntries(set) as Values;
}

/** What administrators may see, and what is stored encrypted. */
export function splitSecrets(rules: RulesByField, values: Values): { fields: Values; secrets: Values } {
  const partOf = (secret: boolean) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => (rules[name]?.secret === true) === secret));
  return { fields: partOf(false), secrets: partOf(true) };
}

/** One error names every field that is missing or invalid. `alsoNeeded` are fields that others make necessary. */
export function refuseInvalidFields(rules: RulesByField, values: Values, alsoNeeded: readonly string[]): void {
  const needed = new Set([...Object.keys(rules).filter((field) => !rules[field]!.optional), ...alsoNeeded]);
  const missing = [...needed].filter((field) => !(field in values));
  const wrong = Object.keys(values).filter((field) => !fits(rules[field], values[field]!));
  const fields = [
    ...missing.map((field) => ({ field, rule: 'required' as const })),
    ...wrong.map((field) => ({ field, rule: 'invalid' as const })),
  ];
  if (fields.length > 0) throw new ApiError('VALIDATION_GENERIC', { fields });
}

function fits(rules: FieldRules | undefined, value: string | readonly string[]): boolean {
  if (!rules || Array.isArray(value) !== (rules.list === true)) return false;
  const { fits: check } = rules;
  return !check || [value].flat().every(check);
}

/** Fields that are needed as soon as one of them is set. */
export const neededTogether = (together: readonly string[] = [], values: Values): readonly string[] =>
  together.some((field) => field in values) ? together : [];
