from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.evaluation_pages import write_evaluation_page
from audioclass.engine.models import load_model


def test_the_page_of_an_evaluation_names_its_corpus_and_model(model_file, small, tmp_path):
    model, corpus, page = load_model(model_file), small / "corpus", tmp_path / "page.html"
    evaluated = evaluate_model(model, corpus)
    write_evaluation_page(page, evaluated, evaluated.evaluation(n_resamples=10), corpus, model_file)
    text = page.read_text(encoding="utf-8")
    assert "<title>Evaluation on corpus</title>" in text
    assert str(corpus) in text
    assert str(model_file) in text
