/** Styles are imported for their effect only: esbuild collects them in one file. */
declare module '*.css';
