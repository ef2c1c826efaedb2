import { resolve } from 'node:path';
import { sveltekit } from '@sveltejs/kit/vite';
import { defaultClientConditions, defaultServerConditions, defineConfig } from 'vite';
import adapter from './adapter.js';
import { texts } from './texts.ts';

/** Of about 160 entries: pages, layouts and what is loaded later. */
const MOST_ENTRIES = 60;
/** What nearly all pages have, though few other entries import it. */
const FRAME =
  /virtual:texts$|virtual:texts\/errors\/en$|\/src\/(routes\/(\+(layout|error)|Header|Footer|Shortcuts)\b|components\/(live|addresses|Avatar|Badge|Empty|Markup)\b|texts\/\w+\.ts)/;
/**
 * A page is handed to these before the others, which read it while they are loaded. In one file with them they would be
 * handed the page too late, and take it for one of another version.
 */
const START = /\/runtime\/client\/payload\.js$|preload-helper/;

export default defineConfig({
  build: {
    target: 'es2022',
    // What is loaded later is small and imports what the page has; lists of it would be in all pages.
    modulePreload: {
      resolveDependencies: (_, files) => files.filter((file) => file.endsWith('.css') && !file.includes('/shared.')),
    },
  },
  environments: {
    client: {
      build: {
        rolldownOptions: {
          output: {
            // What most pages share is one file: many small ones compress worse, and each is a request.
            codeSplitting: {
              groups: [
                { name: 'start', test: START },
                { name: 'shared', test: FRAME },
                { name: 'shared', minShareCount: MOST_ENTRIES },
              ],
            },
          },
        },
      },
    },
  },
  // The client comes from its sources, which need no build of their own.
  resolve: { conditions: ['modstead-source', ...defaultClientConditions] },
  ssr: {
    // Bundled, so that the running service loads few files.
    noExternal: true,
    resolve: { conditions: ['modstead-source', ...defaultServerConditions] },
  },
  plugins: [
    {
      name: 'modstead-devalue',
      enforce: 'pre',
      resolveId(id) {
        return id === 'devalue' && this.environment.name === 'client'
          ? resolve(import.meta.dirname, 'src/devalue.ts')
          : null;
      },
    },
    texts(),
    sveltekit({
      adapter: adapter('build'),
      // Hashes instead of nonces, so that a page can be cached with its policy.
      csp: {
        mode: 'hash',
        directives: {
          'default-src': ['none'],
          'script-src': ['self'],
          'style-src': ['self'],
          // The region in which SvelteKit announces a new page has a style attribute.
          'style-src-attr': ['unsafe-hashes', 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='],
          // Pictures are shown before they are sent.
          'img-src': ['self', 'blob:'],
          'font-src': ['none'],
          'media-src': ['self'],
          'connect-src': ['self'],
          // The two that the API takes links to; nothing is framed before a visitor asks for it.
          'frame-src': ['https://www.youtube-nocookie.com', 'https://sketchfab.com'],
          'manifest-src': ['self'],
          'form-action': ['self'],
          'base-uri': ['none'],
          'frame-ancestors': ['none'],
          'require-trusted-types-for': ['script'],
          'trusted-types': ['svelte-trusted-html', 'sveltekit-trusted-url', 'modstead-markup'],
        },
      },
      // A page and all that its first picture needs are one request. All styles of a page are below 20 kB.
      inlineStyleThreshold: 20_000,
      paths: { relative: false },
      // The service knows the routes; a list of all of them would be a tenth of what a page loads.
      router: { resolution: 'server' },
      version: { name: process.env.SITE_DIGEST || 'development', pollInterval: 0 },
    }),
  ],
});
