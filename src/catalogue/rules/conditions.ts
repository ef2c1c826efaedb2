import { setImmediate as nextIteration } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { RE2JS, RE2Set } from 're2js';
import { ApiError, type FieldProblem } from '../../platform/errors/catalogue.ts';

/** The facts about a submission: texts, numbers, and lists of texts, by names such as `payload.name`. */
export type Fact = string | number | readonly string[];
export type Facts = Readonly<Record<string, Fact>>;

const TEXT_OPERATORS = ['equals', 'contains', 'starts_with', 'ends_with', 'matches'] as const;
const OPERATORS = [...TEXT_OPERATORS, 'in', 'in_network', 'above', 'below', 'exists'] as const;
type Operator = (typeof OPERATORS)[number];

interface Comparison {
  readonly field: string;
  readonly is: Operator;
  readonly value: string | number | boolean | readonly string[];
}
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | Comparison;

const DEPTH_MAX = 6;
const COMPARISONS_MAX = 50;
const VALUES_MAX = 200;
const VALUE_CHARACTERS_MAX = 500;
const PATTERN_CHARACTERS_MAX = 200;
/** The most steps of an expression's automaton: `a{1000}` is short and has a thousand. */
const PATTERN_STEPS_MAX = 150;
const FIELD = /^(?:payload|header|user|history|file)\.[a-z0-9_-]{1,64}$|^operation$/;

const problem = (rule: FieldProblem['rule'], values?: FieldProblem['values']) =>
  new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'when', rule, ...(values && { values }) }] });

/** Parses a condition. Expressions that cannot be matched in linear time are refused. */
export function parseCondition(text: string): Condition {
  let sent: unknown;
  try {
    sent = JSON.parse(text);
  } catch {
    throw problem('object');
  }
  const counted = { comparisons: 0 };
  const condition = checked(sent, 1, counted);
  if (counted.comparisons > COMPARISONS_MAX) throw problem('array_max', { max: COMPARISONS_MAX });
  return condition;
}

function checked(sent: unknown, depth: number, counted: { comparisons: number }): Condition {
  if (depth > DEPTH_MAX) throw problem('json_depth', { max: DEPTH_MAX });
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw problem('object');
  const { all, any, not, field, is, value, ...others } = sent as Record<string, unknown>;
  const forms = [all, any, not, field].filter((form) => form !== undefined);
  if (forms.length !== 1 || Object.keys(others).length > 0) throw problem('invalid');
  const each = (list: unknown) => {
    if (!Array.isArray(list)) throw problem('array');
    counted.comparisons += list.length === 0 ? 1 : 0;
    if (list.length > COMPARISONS_MAX) throw problem('array_max', { max: COMPARISONS_MAX });
    return list.map((item) => checked(item, depth + 1, counted));
  };
  if (all !== undefined) return { all: each(all) };
  if (any !== undefined) return { any: each(any) };
  if (not !== undefined) return { not: checked(not, depth + 1, counted) };
  counted.comparisons += 1;
  return comparison(field, is, value);
}

function comparison(field: unknown, is: unknown, value: unknown): Comparison {
  if (typeof field !== 'string' || !FIELD.test(field)) throw problem('invalid');
  const operator = OPERATORS.find((name) => name === is);
  if (!operator) throw problem('enum', { values: OPERATORS.join(', ') });
  return { field, is: operator, value: valueFor(operator, value) };
}

function valueFor(operator: Operator, value: unknown): Comparison['value'] {
  if (operator === 'exists' && typeof value === 'boolean') return value;
  if ((operator === 'above' || operator === 'below') && Number.isFinite(value)) return value as number;
  if (operator === 'in' && isListOfTexts(value)) return value.map((text) => text.toLowerCase());
  if (operator === 'in_network') return networksIn(value);
  if (operator === 'matches' && typeof value === 'string') return linear(value);
  const isText = (TEXT_OPERATORS as readonly string[]).includes(operator) && operator !== 'matches';
  if (isText && typeof value === 'number') return String(value);
  if (isText && typeof value === 'string' && value.length <= VALUE_CHARACTERS_MAX) return value.toLowerCase();
  throw problem('invalid');
}

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= VALUES_MAX &&
  value.every((text) => typeof text === 'string' && text.length <= VALUE_CHARACTERS_MAX);

/** One or several addresses and networks such as `192.0.2.0/24`. */
function networksIn(value: unknown): readonly string[] {
  const texts = typeof value === 'string' ? [value] : value;
  if (!isListOfTexts(texts) || texts.length === 0 || !texts.every((text) => networkOf(text))) throw problem('invalid');
  return texts;
}

function networkOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isWithin(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const own = ipaddr.process(address);
  return networks.some((text) => {
    const [network, bits] = networkOf(text)!;
    return own.kind() === network.kind() && own.match(network as never, bits);
  });
}

const SLASHED = /^\/(.*)\/i?$/s;

/**
 * An expression in RE2 syntax, optionally between slashes. Without look-around and back-references, matching takes
 * linear time.
 */
function linear(value: string): string {
  const pattern = SLASHED.exec(value)?.[1] ?? value;
  if (pattern === '' || pattern.length > PATTERN_CHARACTERS_MAX) throw problem('linear_expression');
  if (stepsOf(pattern) > PATTERN_STEPS_MAX) throw problem('linear_expression');
  return pattern;
}

function stepsOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize();
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Only this much of a text is matched against expressions. */
const MATCHED_CHARACTERS_MAX = 20_000;

/** This many expressions are compiled to one automaton, which keeps both passes over a text and compile times short. */
const SLICE = 16;

/** Several expressions, matched in one pass over a text. */
class Slice {
  readonly patterns: string[] = [];
  #set: RE2Set | undefined;

  get isCompiled(): boolean {
    return this.#set !== undefined;
  }

  compile(): RE2Set {
    const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
    for (const pattern of this.patterns) set.add(pattern);
    set.compile();
    this.#set = set;
    return set;
  }

  matching(text: string): string[] {
    const found: number[] = (this.#set ?? this.compile()).match(text);
    return found.map((number) => this.patterns[number]!);
  }
}

/** All expressions that rules have for one field. */
class Expressions {
  readonly #patterns = new Set<string>();
  readonly slices: Slice[] = [];

  add(pattern: string): void {
    if (this.#patterns.has(pattern)) return;
    this.#patterns.add(pattern);
    if ((this.slices.at(-1)?.patterns.length ?? SLICE) >= SLICE) this.slices.push(new Slice());
    this.slices.at(-1)!.patterns.push(pattern);
  }

  matching(text: string): ReadonlySet<string> {
    const read = text.slice(0, MATCHED_CHARACTERS_MAX);
    return new Set(this.slices.flatMap((slice) => slice.matching(read)));
  }

  /** The same, and yields to the event loop after each automaton. */
  async matchingInSteps(text: string): Promise<ReadonlySet<string>> {
    const read = text.slice(0, MATCHED_CHARACTERS_MAX);
    const found = new Set<string>();
    for (const slice of this.slices) {
      for (const pattern of slice.matching(read)) found.add(pattern);
      await nextIteration();
    }
    return found;
  }
}

/** The expressions that match, by field. */
export type Matches = ReadonlyMap<string, ReadonlySet<string>>;

/** Counts the expressions of a condition. */
export function expressionsIn(condition: Condition): number {
  if ('all' in condition) return condition.all.reduce((sum, part) => sum + expressionsIn(part), 0);
  if ('any' in condition) return condition.any.reduce((sum, part) => sum + expressionsIn(part), 0);
  return 'not' in condition ? expressionsIn(condition.not) : Number(condition.is === 'matches');
}

/** Evaluates conditions. The constructor collects all expressions, so that they are compiled together. */
export class ConditionEvaluator {
  readonly #expressions = new Map<string, Expressions>();

  constructor(conditions: readonly Condition[]) {
    for (const condition of conditions) this.#collect(condition);
  }

  #collect(condition: Condition): void {
    if ('all' in condition || 'any' in condition) {
      for (const part of 'all' in condition ? condition.all : condition.any) this.#collect(part);
    } else if ('not' in condition) this.#collect(condition.not);
    else if (condition.is === 'matches') {
      const expressions = this.#expressions.get(condition.field) ?? new Expressions();
      expressions.add(condition.value as string);
      this.#expressions.set(condition.field, expressions);
    }
  }

  /** Compiles the remaining expressions, and yields to the event loop after each automaton. */
  async prepare(): Promise<void> {
    for (const { slices } of this.#expressions.values())
      for (const slice of slices) {
        if (slice.isCompiled) continue;
        slice.compile();
        await nextIteration();
      }
  }

  /** Matches all texts, because a thousand expressions and a long text take a second in one go. */
  async matchesOf(facts: Facts, known: Matches = new Map()): Promise<Matches> {
    const found = new Map(known);
    for (const [field, expressions] of this.#expressions) {
      const texts = textsIn(facts[field]);
      if (texts.length > 0 && !found.has(field)) found.set(field, await expressions.matchingInSteps(texts.join('\n')));
    }
    return found;
  }

  /** Returns a predicate for these facts. Each text is folded and matched against expressions at most once. */
  about(facts: Facts, known: Matches = new Map()): (condition: Condition) => boolean {
    const folded = new Map<string, string[]>();
    const matches = new Map(known);
    const textsOf = (field: string) =>
      cached(folded, field, () => textsIn(facts[field]).map((text) => text.toLowerCase()));
    const matching = (field: string) =>
      cached(matches, field, () =>
        textsIn(facts[field]).length === 0
          ? new Set<string>()
          : this.#expressions.get(field)!.matching(textsIn(facts[field]).join('\n')),
      );
    const compares = ({ field, is, value }: Comparison): boolean => {
      const fact = facts[field];
      if (is === 'exists') return (fact !== undefined && textsIn(fact).some((text) => text !== '')) === value;
      if (is === 'above') return fact !== undefined && Number(fact) > (value as number);
      if (is === 'below') return fact !== undefined && Number(fact) < (value as number);
      if (is === 'matches') return matching(field).has(value as string);
      if (is === 'in_network') return textsIn(fact).some((address) => isWithin(address, value as readonly string[]));
      if (is === 'in') return textsOf(field).some((text) => (value as readonly string[]).includes(text));
      return textsOf(field).some((text) => COMPARE[is](text, value as string));
    };
    const holds = (condition: Condition): boolean => {
      if ('all' in condition) return condition.all.every(holds);
      if ('any' in condition) return condition.any.some(holds);
      return 'not' in condition ? !holds(condition.not) : compares(condition);
    };
    return holds;
  }
}

const COMPARE = {
  equals: (text: string, value: string) => text === value,
  contains: (text: string, value: string) => text.includes(value),
  starts_with: (text: string, value: string) => text.startsWith(value),
  ends_with: (text: string, value: string) => text.endsWith(value),
};

function textsIn(fact: Fact | undefined): string[] {
  if (fact === undefined) return [];
  return typeof fact === 'object' ? [...fact] : [String(fact)];
}

function cached<T>(known: Map<string, T>, name: string, find: () => T): T {
  const value = known.get(name) ?? find();
  known.set(name, value);
  return value;
}
