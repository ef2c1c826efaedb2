/** The part of JSON Schema that the contract uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: Schema | boolean;
}

export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface ContractOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
}

/** The operation of a template such as `/games/{game_id}`. */
export const operationAt = (contract: Contract, method: string, path: string): ContractOperation | undefined =>
  contract.paths[path]?.[method.toLowerCase()];

export const schemaOf = (operation: ContractOperation | undefined, status: number): Schema | undefined =>
  operation?.responses[status]?.content?.['application/json']?.schema;

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
};

const PROBLEMS_MAX = 10;

/**
 * What of a value differs from its schema, as sentences with a path. Further fields are allowed, and null wherever a
 * text, number or object may be missing, because clients read both so.
 */
export function problemsOf(contract: Contract, schema: Schema, value: unknown, path = '$'): string[] {
  const problems: string[] = [];
  visit(schema, value, path);
  return problems.slice(0, PROBLEMS_MAX);

  function visit(given: Schema, each: unknown, at: string): void {
    const found = resolved(given);
    const choices = found.anyOf ?? found.oneOf;
    if (choices) {
      const tried = choices.map((choice) => problemsOf(contract, choice, each, at));
      if (tried.every((problem) => problem.length > 0))
        problems.push(...tried.reduce((best, other) => (other.length < best.length ? other : best)));
      return;
    }
    for (const part of found.allOf ?? []) visit(part, each, at);
    if (found.type !== undefined && !fits(found.type, each))
      return void problems.push(`${at} is ${typeOf(each)} instead of ${[found.type].flat().join(' or ')}`);
    if (found.enum && !found.enum.includes(each)) problems.push(`${at} is ${JSON.stringify(each)}, which is unknown`);
    if (Array.isArray(each) && found.items)
      for (const [index, item] of each.entries()) visit(found.items, item, `${at}[${index}]`);
    else if (typeof each === 'object' && each !== null) visitFields(found, each as Record<string, unknown>, at);
  }

  function visitFields(
    { properties = {}, required = [], additionalProperties }: Schema,
    each: Record<string, unknown>,
    at: string,
  ) {
    // `{}` stands for an object that is not there, such as the file of a mod without one.
    if (additionalProperties === false && Object.keys(properties).length === 0 && Object.keys(each).length > 0)
      problems.push(`${at} must be empty`);
    for (const name of required) if (!(name in each)) problems.push(`${at}.${name} is missing`);
    for (const [name, field] of Object.entries(properties)) if (name in each) visit(field, each[name], `${at}.${name}`);
    if (typeof additionalProperties === 'object')
      for (const [name, item] of Object.entries(each))
        if (!(name in properties)) visit(additionalProperties, item, `${at}.${name}`);
  }

  function resolved(given: Schema): Schema {
    const name = given.$ref?.split('/').at(-1);
    return name === undefined ? given : resolved(contract.components.schemas[name]!);
  }
}

function fits(type: string | readonly string[], value: unknown): boolean {
  const actual = typeOf(value);
  return [type].flat().some((each) => each === actual || (each === 'number' && actual === 'integer'));
}
