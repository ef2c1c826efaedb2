declare module 'virtual:texts' {
  /** Named by area and language, as in `account/de`. */
  const loaders: Readonly<Record<string, () => Promise<{ readonly default: unknown }>>>;
  export default loaders;
}

declare module 'virtual:texts/errors/en' {
  const texts: import('../../.svelte-kit/texts.d.ts').Areas['errors'];
  export default texts;
}
