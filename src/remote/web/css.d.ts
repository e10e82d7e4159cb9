/** Styles are imported for their effect: esbuild collects them in one file. */
declare module '*.css';
