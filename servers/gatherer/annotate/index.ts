export { type Annotation, AnnotationFile } from './annotation-file.js';
export { FormServer, type FormServerOptions } from './form-server.js';
