import { readFileSync } from 'node:fs';

/** The names that the examples of the client's README use without declaring them. */
export const GIVEN = `
declare global {
  var url: string;
  var key: string;
  var token: string;
  var gameId: number;
  var modId: number;
  var clientId: number;
  var clientSecret: string;
  var redirectUri: string;
  var steamTicket: string;
  var storage: { getItem(key: string): string | null; setItem(key: string, value: string): void; removeItem(key: string): void };
  function ask(question: string): Promise<string>;
}
export {};
`;

/** The examples of the client's README, as modules. */
export const examples = (): string[] =>
  [...readFileSync('client/README.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
