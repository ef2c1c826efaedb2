// Our own modules name each other exactly. Searching for them, and for their format, is a fifth of the time of a start.
import module from 'node:module';

const PLACES = ['../src/', '../test/'].map((place) => new URL(place, import.meta.url).href);

module.registerHooks({
  resolve: (specifier, context, next) => {
    const isOwn = specifier.startsWith('.') && specifier.endsWith('.ts') && isOurs(context.parentURL);
    if (!isOwn) return next(specifier, context);
    return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true };
  },
});

function isOurs(url) {
  return url !== undefined && PLACES.some((place) => url.startsWith(place));
}
