import { z } from 'zod';

/** Any zod schema, of the classic or the mini API. */
export type Schema = z.core.$ZodType;
export type Literal = z.core.util.Literal;

export type Traits = {
  /** The field may be missing. */
  optional: boolean;
  nullable: boolean;
  /** The empty string is a valid value. */
  text: boolean;
};

/** The schema inside all wrappers. */
export function unwrapped(schema: Schema): Schema {
  const inner = innerOf(schema);
  return inner ? unwrapped(inner) : schema;
}

export function traitsOf(schema: Schema): Traits {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const inner = innerOf(schema);
  if (!inner) return plainTraitsOf(schema);
  const traits = traitsOf(inner);
  if (def.type === 'nonoptional') return { ...traits, optional: false };
  return {
    ...traits,
    optional: traits.optional || ['optional', 'default', 'prefault', 'catch'].includes(def.type),
    nullable: traits.nullable || def.type === 'nullable',
  };
}

export function literalsOf(schema: Schema): readonly Literal[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'literal') return def.values;
  return def.type === 'enum' ? Object.values(def.entries) : [];
}

export const isInteger = (schema: Schema): boolean => schema instanceof z.ZodNumber && schema.isInt;

/** The schema at a path, if the path exists. */
export function schemaAt(schema: Schema, path: readonly PropertyKey[]): Schema | undefined {
  const plain = unwrapped(schema);
  const [step, ...rest] = path;
  const member = step === undefined ? undefined : memberOf(plain, step);
  return step === undefined ? plain : member && schemaAt(member, rest);
}

function innerOf(schema: Schema): Schema | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'catch':
    case 'readonly':
    case 'nonoptional':
      return def.innerType;
    case 'pipe':
      return def.in;
    case 'lazy':
      return def.getter();
    default:
      return undefined;
  }
}

function plainTraitsOf(schema: Schema): Traits {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const anything = ['any', 'unknown', 'custom', 'transform'].includes(def.type);
  const options = def.type === 'union' ? def.options.map(traitsOf) : [];
  const literals = literalsOf(schema);
  return {
    optional: options.some(({ optional }) => optional),
    nullable: anything || def.type === 'null' || literals.includes(null) || options.some(({ nullable }) => nullable),
    text: anything || isText(def.type) || literals.includes('') || options.some(({ text }) => text),
  };
}

const isText = (type: string): boolean => type === 'string' || type === 'template_literal';

function memberOf(schema: Schema, step: PropertyKey): Schema | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return Object.hasOwn(def.shape, step) ? def.shape[String(step)] : undefined;
    case 'array':
      return def.element;
    case 'record':
      return def.valueType;
    case 'tuple':
      return def.items[Number(step)] ?? def.rest ?? undefined;
    default:
      return undefined;
  }
}
