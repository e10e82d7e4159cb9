import DefaultTheme from 'vitepress/theme';
import '../../pages/strips.css';

// biome-ignore lint/style/noDefaultExport: VitePress wants it
export default DefaultTheme;
